"""Principal components: covariance, eigenvectors, projection, reconstruction, whitening."""
import tensorflow as tf

base = tf.random.stateless_normal([100, 2], [1, 2])
mix = tf.constant([[2.0, 0.5, 1.0], [0.0, 1.0, -0.5]])
data = base @ mix + tf.random.stateless_normal([100, 3], [3, 4]) * 0.1 + tf.constant([1.0, -2.0, 0.5])
mean = tf.reduce_mean(data, axis=0)
centered = data - mean
cov = tf.matmul(centered, centered, transpose_a=True) / 99.0
print(mean.numpy().round(3))
print(cov.numpy().round(3))
values, vectors = tf.linalg.eigh(cov)
values, vectors = tf.reverse(values, [0]), tf.reverse(vectors, [1])
print(values.numpy().round(4), (values / tf.reduce_sum(values)).numpy().round(4))
signs = tf.sign(vectors[0])
vectors = vectors * signs
print(vectors.numpy().round(3))
for k in (1, 2, 3):
    projected = centered @ vectors[:, :k]
    rebuilt = projected @ tf.transpose(vectors[:, :k])
    print(k, projected.shape, f"{tf.reduce_mean((rebuilt - centered) ** 2):.4f}")
white = centered @ vectors / tf.sqrt(values)
print(tf.reduce_max(tf.abs(tf.matmul(white, white, transpose_a=True) / 99.0 - tf.eye(3))).numpy() < 1e-3)
s = tf.linalg.svd(centered, compute_uv=False)
print((s**2 / 99.0).numpy().round(4))
