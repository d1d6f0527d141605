"""The Mandelbrot set with complex tensors, drawn with letters."""
import tensorflow as tf

Y, X = tf.meshgrid(tf.linspace(-1.25, 1.25, 21), tf.linspace(-2.0, 0.6, 40), indexing="ij")
c = tf.complex(X, Y)


@tf.function
def iterate(c, n):
    z = tf.zeros_like(c)
    counts = tf.zeros(c.shape, tf.int32)
    for _ in tf.range(n):
        z = tf.where(tf.abs(z) < 4.0, z * z + c, z)
        counts += tf.cast(tf.abs(z) < 4.0, tf.int32)
    return counts


counts = iterate(c, tf.constant(20))
for row in counts.numpy():
    print("".join(" .:-=+*#%@@"[min(int(v) // 2, 10)] for v in row))
print(tf.reduce_max(counts).numpy(), tf.reduce_mean(tf.cast(counts, tf.float32)).numpy())
print(c[0, 0], c.dtype, tf.math.real(c)[0, :3].numpy())
