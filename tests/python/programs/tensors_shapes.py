"""Reshape, expand_dims, squeeze, transpose and TensorShape."""
import tensorflow as tf

x = tf.constant([[1], [2], [3]])
print(x.shape, x.shape.as_list())
reshaped = tf.reshape(x, [1, 3])
print(reshaped, reshaped.shape)

t = tf.reshape(tf.range(30), [3, 2, 5])
print(tf.reshape(t, [-1]))
print(tf.reshape(t, [3 * 2, 5]), "\n")
print(tf.reshape(t, [3, -1]))
try:
    tf.reshape(t, [7, -1])
except Exception as e:
    print(f"{type(e).__name__}: {e}")
try:
    tf.reshape(t, [2, 2])
except tf.errors.InvalidArgumentError as e:
    print(e.message)

print(tf.expand_dims(x, 0).shape, tf.expand_dims(x, -1).shape, tf.squeeze(x).shape)
print(tf.squeeze(tf.zeros([1, 2, 1, 3]), axis=[0]).shape)
print(tf.transpose(t, perm=[2, 0, 1]).shape, tf.transpose(t).shape)
print(tf.transpose(x))

s = tf.TensorShape([3, None, 5])
print(s, repr(s), s.rank, s.ndims, s.as_list(), s[0], s[1], s[1:], list(s))
print(s.is_fully_defined(), s.is_compatible_with([3, 4, 5]), s.is_compatible_with([3, 4, 6]))
print(s.merge_with([None, 2, 5]), s.concatenate([7]), tf.TensorShape(None), repr(tf.TensorShape(None)))
print(tf.TensorShape(None).rank, tf.TensorShape([]).num_elements(), tf.TensorShape([2, 3]).num_elements(),
      s.num_elements())
print(tf.TensorShape([1, 2]) == (1, 2), tf.TensorShape([1, 2]) == [1, 3], s == s)
print(tf.TensorShape([2]) + [3], (1,) + tf.TensorShape([2]))
try:
    s.merge_with([4, 2, 5])
except ValueError as e:
    print(e)
try:
    len(tf.TensorShape(None))
except ValueError as e:
    print(e)
print(s.most_specific_compatible_shape([3, 2, 6]), s.with_rank(3))
print(tf.broadcast_static_shape(tf.TensorShape([3, 1]), tf.TensorShape([1, 4])))
print(tf.broadcast_dynamic_shape([3, 1], [1, 4]))
print(tf.ensure_shape(x, [None, 1]).shape)
try:
    tf.ensure_shape(x, [2, 1])
except Exception as e:
    print(type(e).__name__, e)
print(tf.shape_n([x, t]))
