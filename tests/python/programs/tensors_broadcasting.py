"""Broadcasting in arithmetic, comparisons and matmul."""
import tensorflow as tf

x = tf.constant([1, 2, 3])
y = tf.constant(2)
z = tf.constant([2, 2, 2])
print(tf.multiply(x, 2))
print(x * y)
print(x * z)
x = tf.reshape(x, [3, 1])
y = tf.range(1, 5)
print(x, "\n")
print(y, "\n")
print(tf.multiply(x, y))
x_stretch = tf.constant([[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]])
y_stretch = tf.constant([[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]])
print(x_stretch * y_stretch)
print(tf.broadcast_to(tf.constant([1, 2, 3]), [3, 3]))
print(tf.broadcast_to([[1.0], [2.0]], [2, 2, 3]))
print(tf.maximum(x, y), tf.minimum(x, y))
print(x > y)
print(x == y)
print(tf.equal(x, 2), tf.not_equal(x, 2))
print(tf.matmul(tf.ones([2, 1, 3, 4]), tf.ones([5, 4, 2])).shape)
print(tf.where(x > 1, y, -y))
try:
    tf.constant([1, 2, 3]) + tf.constant([1, 2])
except tf.errors.InvalidArgumentError as e:
    print(type(e).__name__, e.message, e.error_code)
try:
    tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
except tf.errors.InvalidArgumentError as e:
    print(e)
try:
    tf.broadcast_to([1, 2], [3, 3])
except tf.errors.InvalidArgumentError as e:
    print(e)
print(tf.constant([1, 2, 3]) == tf.constant([1, 2]))
print(tf.constant([1, 2, 3]) != tf.constant([1, 2]))
