"""Functions that make tensors: zeros, ones, fill, eye, range, linspace, one_hot, like-functions, meshgrid, tile."""
import tensorflow as tf

print(tf.zeros([2, 3]), tf.ones(3, tf.int32), tf.zeros([]), tf.zeros([2], tf.string), tf.ones([2], tf.bool))
print(tf.fill([2, 2], 9), tf.fill([2], "a"), tf.eye(2), tf.eye(2, 3), tf.eye(2, batch_shape=[2], dtype=tf.int32))
print(tf.range(4), tf.range(3, 18, 3), tf.range(3, 1, -0.5), tf.range(4.0), tf.range(5, dtype=tf.int64))
print(tf.linspace(10.0, 12.0, 3), tf.linspace([0.0, 5.0], [10.0, 40.0], 5), tf.linspace(0, 1, 3))
print(tf.one_hot([0, 2, -1], 3), tf.one_hot([[0], [1]], 2, on_value=5, off_value=-1), tf.one_hot(1, 3, axis=0))
t = tf.constant([[1, 2, 3], [4, 5, 6]])
print(tf.zeros_like(t), tf.ones_like(t, dtype=tf.float32), tf.zeros_like([1.0, 2.0]), tf.ones_like(1))
X, Y = tf.meshgrid([1, 2, 3], [4, 5])
print(X, Y)
print(tf.meshgrid([1, 2], [3, 4], indexing="ij"))
print(tf.tile(t, [1, 2]), tf.tile([1, 2], [3]))
print(tf.pad(t, [[1, 1], [2, 2]]), tf.pad(t, [[1, 1], [2, 2]], "REFLECT"), tf.pad(t, [[1, 1], [2, 2]], "SYMMETRIC"))
print(tf.pad(t, [[0, 0], [1, 0]], constant_values=-1))
print(tf.repeat([1, 2, 3], 2), tf.repeat(t, [1, 2], axis=0), tf.sequence_mask([1, 3, 2], 5))
print(tf.reverse(t, [1]), tf.roll(t, shift=1, axis=1), tf.reverse_sequence(t, [2, 3], seq_axis=1))
print(tf.concat([t, t], 0), tf.concat([t, t], axis=-1), tf.stack([t, t]).shape, tf.stack([t, t], axis=2))
print(tf.unstack(t), tf.unstack(t, axis=1))
print(tf.split(t, 3, axis=1), tf.split(tf.range(10), [2, 3, -1]))
try:
    tf.split(t, 2, axis=1)
except Exception as e:
    print(type(e).__name__, e)
try:
    tf.concat([t, tf.zeros([2, 3])], 0)
except Exception as e:
    print(type(e).__name__, e)
try:
    tf.stack([tf.zeros([2]), tf.zeros([3])])
except Exception as e:
    print(type(e).__name__, e)
