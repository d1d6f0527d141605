"""Eight-bit floats in compiled functions: casts from and to other types, numbers that do not fit, and moves."""
import numpy as np
import tensorflow as tf

small = tf.dtypes.experimental
numbers = [0.0, -0.0, 1.0, 1.0625, 1.1, -1.1875, 0.3, -2.7, 17.0, 100.5, -300.0, 448.0, 460.0, 470.0, 5e4, 61440.0, 1e6, -1e30, 1e-3, -2e-4, 3e-6, 1e-9, np.inf, -np.inf, np.nan]
for name in ("float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz"):
    kind = getattr(small, name)
    for source in (tf.float32, tf.float16, tf.bfloat16, tf.float64):
        there_and_back = tf.function(lambda x: tf.cast(tf.cast(x, kind), tf.float32), jit_compile=True)
        print(name, source.name, there_and_back(tf.cast(tf.constant(numbers, tf.float64), source)).numpy().tolist())
    print(name, "int32", tf.function(lambda x: tf.cast(tf.cast(x, kind), tf.int32), jit_compile=True)(tf.constant([0, 1, -3, 17, 100, -200])).numpy().tolist())

    @tf.function(jit_compile=True)
    def moved(x, i):
        y = tf.cast(x, kind)
        y = tf.concat([y, tf.gather(y, i)], 0)
        y = tf.transpose(tf.reshape(y, [2, -1]))
        return tf.cast(y[1:], tf.float32), tf.cast(tf.stack([y[0], y[1]]), tf.float64)

    print(name, [v.numpy().tolist() for v in moved(tf.constant([1.0, 2.0, 3.5, -4.0]), tf.constant([3, 0]))])

kind = small.float8_e4m3fn


@tf.function(jit_compile=True)
def product(a, b):
    """As networks use them: kept in eight bits, multiplied in float."""
    a, b = tf.cast(a, kind), tf.cast(b, kind)
    return tf.matmul(tf.cast(a, tf.float32), tf.cast(b, tf.float32))


print(product(tf.constant([[1.1, 2.3], [-0.7, 40.0]]), tf.constant([[0.5, 1.9], [3.3, -1.2]])).numpy().tolist())
