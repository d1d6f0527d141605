"""tf.experimental.numpy: arrays, functions, type promotion, with tf functions, tapes and variables."""
import numpy as np
import tensorflow as tf
import tensorflow.experimental.numpy as tnp

values = [tnp.array([1, 2]), tnp.asarray([1.0, 2.0]), tnp.ones([2, 3]), tnp.zeros([2], dtype=tnp.float32),
          tnp.arange(5), tnp.eye(2)]
for v in values:
    print(v)
ones = tnp.ones([5, 3], dtype=tnp.float32)
print("Created ndarray with shape = %s, rank = %s, dtype = %s on device = %s" % (ones.shape, ones.ndim, ones.dtype,
    ones.device))
print("Is `ones` an instance of tf.Tensor:", isinstance(ones, tf.Tensor), isinstance(ones, tnp.ndarray))
print(tnp.sum(ones), tnp.sum(ones, axis=0), tnp.mean(ones), tnp.max(ones), tnp.std(tnp.array([1.0, 3.0])))
a = tnp.ones([2, 3])
print("sum =", tnp.sum(a))
x = tnp.linspace(0, 1, 5)
print(x, tnp.sqrt(x), tnp.exp(x), tnp.square(x), tnp.sin(x), tnp.maximum(x, 0.5))
print(tnp.matmul(tnp.ones([2, 3]), tnp.ones([3, 2])), tnp.dot(x, x), tnp.outer([1, 2], [3, 4]),
      tnp.inner([1, 2], [3, 4]))
print(tnp.add(1, 2.5), tnp.expand_dims(x, 0).shape, tnp.newaxis, tnp.copy(x) is x)
print(tnp.concatenate([[1], [2, 3]]), tnp.stack([[1, 2], [3, 4]]), tnp.reshape(tnp.arange(6), [2, 3]),
      tnp.transpose(tnp.ones([2, 3])).shape)
print(tnp.where(x > 0.3, x, 0), tnp.argmax([1, 5, 2]), tnp.sort([3, 1, 2]), tnp.cumsum([1, 2, 3]))
print(tnp.full([2], 7), tnp.zeros_like(x), tnp.ones_like([1, 2]), tnp.identity(2), tnp.diag([1, 2]), tnp.tri(2),
      tnp.vander([1, 2]))
print(tnp.split(tnp.arange(4), 2), tnp.tile([1, 2], 2), tnp.repeat([1, 2], 2), tnp.flip([1, 2, 3]),
      tnp.roll([1, 2, 3], 1), tnp.pad([1], [[1, 1]], "constant"))
print(tnp.isnan([1.0, float("nan")]), tnp.isclose(1.0, 1.0 + 1e-9), tnp.allclose([1.0], [1.0]), tnp.all([True, False]),
      tnp.any([True, False]))
print(tnp.float32, tnp.float64, tnp.int64, tnp.int32, tnp.bool_, tnp.pi, tnp.inf)
print(tnp.result_type(tnp.int32, tnp.float32), tnp.promote_types("int32", "float64"), tnp.finfo(tnp.float32).max,
      tnp.iinfo(tnp.int8).max)
print(tnp.power(2, 3), tnp.mod(7, 3), tnp.floor_divide(7, 2), tnp.true_divide(7, 2), tnp.abs(-2), tnp.sign(-2.0),
      tnp.clip([1, 5], 2, 4))
print(tnp.einsum("ij,jk->ik", tnp.ones([2, 2]), tnp.eye(2)), tnp.kron([1, 2], [1, 1]),
      tnp.tensordot(tnp.ones([2, 2]), tnp.ones([2, 2]), 1))
print(tnp.meshgrid([1, 2], [3, 4]), tnp.nonzero([0, 1, 2]), tnp.take([5, 6, 7], [0, 2]), tnp.squeeze([[1]]),
      tnp.ravel([[1, 2]]))


@tf.function
def poly(x):
    return tnp.sum(x ** 2) + tnp.dot(x, x)


print(poly(tnp.asarray([1.0, 2.0])))
v = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tnp.sum(tnp.exp(v) * 2.0)
print(tape.gradient(y, v))
print(np.sum(ones), np.asarray(x).dtype, tf.add(tnp.ones([2]), 1.0),
      tf.vectorized_map(lambda r: tnp.sum(r), tnp.ones([3, 2])))
print(tnp.random.randn(2, 3).shape, tnp.random.rand(2).dtype, tnp.random.randint(0, 5, size=[3]).shape,
      tnp.random.seed(1))
