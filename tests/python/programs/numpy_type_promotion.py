"""Type promotion of all kinds: experimental_enable_numpy_behavior with dtype_conversion_mode, weak tensors."""
import tensorflow as tf
import tensorflow.experimental.numpy as tnp

tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all")
a = tf.constant(5)
print(a, type(a).__name__, a.dtype)
b = tf.constant(5, tf.int32)
print(b, type(b).__name__)
print(tf.constant([1, 2]) + tf.constant(1.5, tf.float32), (a + b).dtype, type(a + a).__name__, a + 1.0)
print(tf.add(5, 3.0), tf.constant(1, tf.int8) + 5, tf.constant(1.0, tf.bfloat16) + 2.5,
      tf.constant(3, tf.uint8) * tf.constant(2, tf.int8))
for x, y in (("int8", "int16"), ("int32", "float16"), ("bfloat16", "float16"), ("uint8", "int8"), ("int64", "float32"),
             ("bool", "int32"), ("float32", "float64"), ("float32", "complex64"), ("uint32", "int32")):
    print(x, y, (tf.cast(1, x) + tf.cast(1, y)).dtype.name)
print(tf.constant(2) * 1.5, 2**tf.constant(0.5), tf.constant([1, 2]) / 2, tf.constant(7) // 2,
      tf.maximum(tf.constant([1, 2]), tf.constant(1.5)))
v = tf.Variable(1.0, dtype=tf.float32)
print(v + tf.constant(1), v.assign(2).numpy(), tf.math.abs(tf.constant(-2.5)))
print(tnp.array([1, 2]) + tnp.array([0.5], tf.float16), tnp.mean(tnp.array([1, 2])), tnp.sum(tnp.array([True, True])))
w = tf.constant(2.0) * tf.constant(3)
print(w, w.dtype, tf.cast(w, tf.float64).dtype, tf.abs(tf.constant(-5)).dtype)


@tf.function
def f(x, y):
    return x + y


print(f(tf.constant(1), tf.constant(2.5)), f(tf.constant(1, tf.int16), tf.constant(2.5, tf.float16)))
print(tf.range(3) + 0.5, tf.zeros([2]) + tf.ones([2], tf.int64), tf.constant(True) + tf.constant(1), -tf.constant(3))
with tf.GradientTape() as tape:
    x = tf.Variable(3.0)
    y = x * tf.constant(2) + tf.constant(1, tf.int8)
print(tape.gradient(y, x))
