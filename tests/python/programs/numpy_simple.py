"""tf.experimental.numpy, first steps."""
import tensorflow as tf
import tensorflow.experimental.numpy as tnp

a = tnp.asarray([[1.0, 2.0], [3.0, 4.0]])
b = tnp.ones([2, 2])
print(a, a.dtype, b.dtype)
print(tnp.add(a, b), a + a, tnp.matmul(a, a))
print(tnp.sum(a), tnp.mean(a, axis=0), tnp.max(a, axis=1), tnp.argmax(a))
print(tnp.arange(5), tnp.linspace(0.0, 1.0, 3), tnp.zeros([2]), tnp.eye(2))
print(tnp.reshape(a, [4]), tnp.transpose(a), tnp.expand_dims(a, 0).shape)
print(tnp.exp(tnp.asarray([0.0, 1.0])), tnp.sqrt(tnp.asarray([4.0, 9.0])), tnp.log(tnp.asarray([1.0])))
print(tnp.concatenate([a, b], axis=0).shape, tnp.stack([a, b]).shape, tnp.where(a > 2, a, 0.0))
print(tnp.dot(a, a), tnp.sort(tnp.asarray([3, 1, 2])), tnp.cumsum(tnp.asarray([1, 2, 3])))


@tf.function
def f(x):
    return tnp.sum(tnp.square(x))


print(f(a))
v = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    y = tnp.sum(tnp.power(v, 3))
print(tape.gradient(y, v))
print(isinstance(a, tf.Tensor), isinstance(a, tnp.ndarray), a.shape, tf.add(a, 1.0)[0])
tnp.experimental_enable_numpy_behavior()
print(a.T, a.reshape(-1), a[a > 2], a.astype("int32"), tf.constant(1) + 1.5)
