"""experimental_enable_numpy_behavior: methods, indexing with lists and masks, promotion, dtypes of mixtures."""
import tensorflow as tf
import tensorflow.experimental.numpy as tnp

tnp.experimental_enable_numpy_behavior()
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(x.T, x.reshape([4]), x.reshape(-1).shape, x.ravel(), x.astype(tf.int32), x.size, x.ndim)
print(x.transpose(), x.max(), x.min(), x.mean(), x.clip(2, 3))
print(x[[0, 1], [1, 0]], x[x > 2], x[:, None].shape, x[..., 0], x[-1], x[[1]])
print(tf.constant(1) + tf.constant(1.5), tf.constant(1, tf.int8) + tf.constant(1, tf.int64), tf.constant(True) + 1)
print(1 + tf.constant(2.5), tf.constant(2) * 1.5, tf.constant([1, 2]) / 2, tf.constant(7) // 2.0, tf.constant(2) ** 0.5)
print(tnp.asarray([1, 2]) + [3, 4], tnp.ones([2]) @ tnp.ones([2]), -tnp.asarray(3), abs(tnp.asarray(-3)))
y = tnp.arange(6).reshape(2, 3)
print(y, y[1], y[:, 1], y[y % 2 == 0], y[0, [0, 2]], y.shape)
print(y > 2, y == 3, (y > 1) & (y < 4), y.dtype, y.astype("float32").dtype)
print(tnp.asarray([1.0, 2.0], dtype=tnp.float32) + 1, tnp.asarray(1) + 1.0,
      tnp.asarray([1], tf.int32) + tnp.asarray([1.0], tf.float32))
m = tnp.zeros([3])
try:
    m[0] = 1
except TypeError as e:
    print(e)


@tf.function
def f(a, b):
    return a + b, a.reshape(-1), a.T


print(f(tf.constant([[1, 2]]), tf.constant(0.5)))
for t in (tf.float32, tf.int32, tf.int8, tf.bool, tf.float16):
    print([(tf.cast(1, t) + tf.cast(1, u)).dtype.name for u in (tf.float32, tf.int32, tf.int64, tf.uint8, tf.float64)])
v = tf.Variable([1, 2, 3])
print(v + 0.5, v[1:], tf.range(3)[tf.constant([0, 2])], tf.constant([5, 6, 7])[[True, False, True]])
print(len(x), list(x.shape), x.tolist(), float(x[0, 0]))
