"""Matrix approximation by SVD: ranks, energies, compression, an image made of numbers, variable ranks."""
import tensorflow as tf

i = tf.range(16.0)
base = tf.sin(i)[:, None] * tf.cos(i)[None, :] + 0.5 * tf.linspace(0.0, 1.0, 16)[:, None] * tf.linspace(1.0, 0.0,
    16)[None, :]
image = tf.stack([base, base**2, tf.abs(base)], axis=-1)


def compress_image(image, r):
    image = tf.transpose(image, [2, 0, 1])
    s, U, V = tf.linalg.svd(image)
    A_r = tf.linalg.matmul(U[..., :r], tf.linalg.matmul(tf.linalg.diag(s[..., :r]), V[..., :r], adjoint_b=True))
    A_r = tf.transpose(A_r, [1, 2, 0])
    rr = 100 * tf.square(tf.norm(tf.reshape(A_r, [-1]))) / tf.square(tf.norm(tf.reshape(tf.transpose(image, [1, 2, 0]),
        [-1])))
    return A_r, rr


for r in (1, 2, 3, 8):
    approx, energy = compress_image(image, r)
    print(r, approx.shape, f"{tf.norm(approx - image):.3f}", f"{energy:.2f}")
s = tf.linalg.svd(tf.transpose(image, [2, 0, 1]), compute_uv=False)
print(s.shape, s[:, :3].numpy().round(3))
energies = tf.cumsum(s**2, axis=1) / tf.reduce_sum(s**2, axis=1, keepdims=True)
print(energies[:, :3].numpy().round(3))
print([int(tf.reduce_sum(tf.cast(e < 0.99, tf.int32))) + 1 for e in energies])


def viz_error(A):
    s = tf.linalg.svd(A, compute_uv=False)
    return tf.sqrt(tf.reverse(tf.cumsum(tf.reverse(s**2, [0])), [0]))


print(viz_error(base)[:3].numpy().round(4))
A = tf.random.stateless_uniform([8, 5], [1, 2])
s, U, V = tf.linalg.svd(A)
print(tf.reduce_max(tf.abs(U @ tf.linalg.diag(s) @ tf.transpose(V) - A)).numpy() < 1e-5,
      tf.reduce_max(tf.abs(tf.transpose(U) @ U - tf.eye(5))).numpy() < 1e-5)
pinv = V @ tf.linalg.diag(1.0 / s) @ tf.transpose(U)
print(tf.reduce_max(tf.abs(pinv - tf.linalg.pinv(A))).numpy() < 1e-3, tf.linalg.matrix_rank(A).numpy())
clipped = tf.clip_by_value(compress_image(image, 1)[0], 0.0, 1.0)
print(tf.reduce_min(clipped).numpy() >= 0.0, clipped.dtype, f"{tf.reduce_mean(clipped):.4f}")
