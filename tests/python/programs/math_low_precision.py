"""float16 and bfloat16: rounding, overflow, sums, casts, matmul, mixed errors, gradients; int types that wrap."""
import tensorflow as tf

for dtype in (tf.float16, tf.bfloat16):
    x = tf.constant([1.0, 0.1, 1000.0, 65504.0, 1e-5], dtype)
    print(x, repr(x))
    print(x + 1, x * 2, tf.sqrt(x), tf.cast(x, tf.float32), tf.reduce_sum(x[:3]), x.numpy().dtype)
    print(tf.matmul(tf.ones([2, 3], dtype), tf.fill([3, 2], tf.cast(0.125, dtype))),
          tf.exp(tf.constant([1.0, 12.0], dtype)))
    v = tf.Variable([1.0, 2.0], dtype=dtype)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v**3)
    print(tape.gradient(y, v), v)
    print(tf.nn.softmax(tf.constant([1.0, 1.0], dtype)), tf.nn.relu(tf.constant([-1.0, 2.0], dtype)), dtype.max,
          dtype.min)
print(tf.cast(70000.0, tf.float16), tf.cast(1e-9, tf.float16), tf.cast(3.14159, tf.bfloat16),
      tf.cast(tf.constant(1.5, tf.bfloat16), tf.int32))
try:
    tf.constant(1.0, tf.float16) + tf.constant(1.0, tf.bfloat16)
except Exception as e:
    print(type(e).__name__, e)
print(tf.constant([250, 10], tf.uint8) + tf.constant([10, 10], tf.uint8), tf.constant([127], tf.int8) + 1,
      tf.constant([2**31 - 1]) + 1, tf.constant([1], tf.uint32) - 2)
print(tf.constant([-7], tf.int8) // 2, tf.constant([100], tf.int8) * 2, tf.abs(tf.constant([-128], tf.int8)),
      tf.cast(-1, tf.uint16), tf.cast(3.99, tf.int8))
print(tf.constant(1, tf.uint64), tf.constant(2**64 - 1, tf.uint64),
      tf.constant([1, 2], tf.int16) * tf.constant([3, 4], tf.int16), tf.cast([1, 0], tf.bool))
print(tf.range(3, dtype=tf.float16), tf.zeros([2], tf.bfloat16), tf.linspace(tf.constant(0.0, tf.float64), 1.0, 3),
      tf.ones([2], tf.uint8))
for dtype in (tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64):
    print(dtype.name, dtype.min, dtype.max, tf.reduce_sum(tf.constant([1, 2, 3], dtype)),
          tf.reduce_max(tf.constant([1, 2, 3], dtype)), dtype.size)
print(tf.constant(0.1) + tf.constant(0.2), tf.constant(0.1, tf.float64) + tf.constant(0.2, tf.float64),
      tf.cast(tf.constant(16777217), tf.float32))
print(tf.constant([1e38]) * 10, tf.constant([0.0]) / 0, tf.math.is_nan(tf.constant(0.0) / 0.0), tf.constant([1e-45]),
      tf.cast(float("inf"), tf.float16))
