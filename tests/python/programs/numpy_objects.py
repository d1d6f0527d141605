"""tf.experimental.numpy: arrays, their types, indexing, mixtures with tensors and numpy, and what is refused."""

import numpy as np
import tensorflow as tf
import tensorflow.experimental.numpy as tnp
from calls import tell

tnp.experimental_enable_numpy_behavior()
a = tnp.array([[1, 2, 3], [4, 5, 6]])
f = tnp.array([1.5, 2.5, -3.5])
x = tf.constant([1.0, 2.0])

tell(
    """
    a
    type(a).__name__
    isinstance(a, tnp.ndarray)
    tnp.ndarray is tf.Tensor
    a.dtype
    f.dtype
    tnp.array(1)
    tnp.array(1.5)
    tnp.array([True, False])
    tnp.array("a")
    tnp.array([1, 2.5])
    tnp.array([1, 2], dtype=np.int8)
    tnp.array([1, 2], dtype=tnp.float16)
    tnp.array([1, 2], dtype="float32")
    tnp.array([1, 2], ndmin=3)
    tnp.asarray(x) is x
    tnp.asarray(np.arange(3))
    tnp.asarray([1j])
    tnp.zeros([2, 2])
    tnp.ones(3, dtype=int)
    tnp.full((2,), 7)
    tnp.eye(2)
    tnp.identity(2, dtype=np.int32)
    tnp.arange(5)
    tnp.arange(1, 2, 0.25)
    tnp.linspace(0, 1, 5)
    tnp.linspace(0, 1, 4, endpoint=False, retstep=True)
    tnp.logspace(0, 2, 3)
    tnp.geomspace(1, 100, 3)
    tnp.meshgrid([1, 2], [3, 4])
    tnp.diag([1, 2])
    tnp.tri(3)
    tnp.triu(a)
    tnp.tril(a, -1)
    tnp.vander([1, 2, 3])
    tnp.add(a, 1)
    tnp.add(a, 1.5)
    tnp.add(np.float32(1), np.float64(2))
    tnp.add([1, 2], x)
    tnp.multiply(a, [1, 2])
    tnp.divide(a, 2)
    tnp.true_divide(1, 0)
    tnp.floor_divide(7, 2)
    tnp.mod(-7, 3)
    tnp.power(2, 3)
    tnp.power(2.0, -1)
    tnp.matmul(a, a.T) if hasattr(a, "T") else tnp.matmul(a, tnp.transpose(a))
    tnp.dot([1, 2], [3, 4])
    tnp.tensordot(a, a, 2)
    tnp.inner([1, 2], [3, 4])
    tnp.outer([1, 2], [3, 4])
    tnp.cross([1, 0, 0], [0, 1, 0])
    tnp.vdot([1, 2], [3, 4])
    tnp.kron([1, 2], [1, 1])
    tnp.einsum("ij->ji", a)
    tnp.sum(a)
    tnp.sum(a, axis=1, keepdims=True)
    tnp.sum(a, axis=5)
    tnp.sum(tnp.array([1, 2], np.int8))
    tnp.mean(a)
    tnp.mean(a, axis=0, dtype=np.float32)
    tnp.std(f)
    tnp.var(a, axis=1)
    tnp.prod(a)
    tnp.max(a, axis=0)
    tnp.amin(a)
    tnp.argmax(a)
    tnp.argmin(a, axis=1)
    tnp.any([0, 1])
    tnp.all(a > 1, axis=1)
    tnp.cumsum(a)
    tnp.cumprod(a, axis=1)
    tnp.average(a, weights=[1, 2, 3], axis=1)
    tnp.median(a) if hasattr(tnp, "median") else None
    tnp.nanmean([1.0, np.nan])
    tnp.nansum([1.0, np.nan])
    tnp.ptp(a)
    tnp.count_nonzero([0, 1, 2])
    tnp.sort([3, 1, 2])
    tnp.argsort([3, 1, 2])
    tnp.reshape(a, [3, 2])
    tnp.reshape(a, -1, order="F")
    tnp.reshape(a, [4, 2])
    tnp.ravel(a)
    tnp.transpose(a)
    tnp.swapaxes(a, 0, 1)
    tnp.moveaxis(a, 0, -1)
    tnp.expand_dims(a, 0).shape
    tnp.squeeze([[1]])
    tnp.squeeze(a, 0)
    tnp.concatenate([a, a], axis=1)
    tnp.stack([[1], [2]])
    tnp.vstack([[1], [2]])
    tnp.hstack([[1], [2]])
    tnp.dstack([[1], [2]])
    tnp.column_stack([[1], [2]]) if hasattr(tnp, "column_stack") else None
    tnp.split(tnp.arange(6), 3)
    tnp.split(tnp.arange(6), 4)
    tnp.array_split(tnp.arange(5), 2) if hasattr(tnp, "array_split") else None
    tnp.hsplit(a, 3)
    tnp.tile([1, 2], 2)
    tnp.repeat([1, 2], [2, 1])
    tnp.flip(a)
    tnp.fliplr(a)
    tnp.rot90(a)
    tnp.roll([1, 2, 3], 1)
    tnp.pad([1, 2], [[1, 1]], "edge")
    tnp.take(a, [0, 5], mode="clip")
    tnp.take(a, 0, axis=1)
    tnp.take_along_axis(a, tnp.array([[0], [1]]), axis=1)
    tnp.where(a > 2, a, 0)
    tnp.where(a > 2)
    tnp.nonzero([0, 3])
    tnp.select([[True, False]], [[1, 2]], 9)
    tnp.clip(a, 2, 4)
    tnp.around(f)
    tnp.round(f, 1)
    tnp.sign(f)
    tnp.abs(f)
    tnp.sqrt(4)
    tnp.exp([1])
    tnp.log1p(0)
    tnp.sin(0)
    tnp.hypot(3, 4)
    tnp.isclose(1, 1 + 1e-9)
    tnp.allclose([1], [1])
    tnp.array_equal([1], [1])
    tnp.isnan([np.nan])
    tnp.isfinite([1.0, np.inf])
    tnp.iscomplex([1j])
    tnp.isscalar(1)
    tnp.maximum(1, [0, 2])
    tnp.logical_and([1, 0], True)
    tnp.bitwise_and(6, 3)
    tnp.gcd(6, 4)
    tnp.ndim(a)
    tnp.shape(a)
    tnp.size(a)
    tnp.size(a, 1)
    tnp.result_type(1, 1.0)
    tnp.result_type(np.int8, np.int16)
    tnp.promote_types(np.int32, np.float32)
    tnp.finfo(np.float32).max
    tnp.iinfo(np.int8).max
    tnp.float_
    tnp.int_
    tnp.pi
    tnp.newaxis
    tnp.broadcast_to([1, 2], [2, 2])
    tnp.broadcast_arrays([1], [1, 2])
    tnp.atleast_2d(1)
    tnp.diff([1, 4, 9])
    tnp.ix_([0], [1])
    tnp.append([1], [2])
    tnp.copy(a) is a
    tnp.imag([1j])
    tnp.real(1)
    tnp.angle(1j)
    tnp.polyval([1, 2], 3)
    tnp.trace(a)
    tnp.diagonal(a)
    tnp.sinc(0)
    tnp.heaviside(-1, 0.5)
    tnp.deg2rad(180)
    tnp.allclose(tnp.random.rand(2).shape, [2])
    tnp.random.seed(1)
    tnp.random.uniform(size=[2]).dtype
    tnp.random.randint(5, size=[2]).dtype
    tnp.random.randn(2, 3).shape
    a[0]
    a[0, 1]
    a[..., 0]
    a[tnp.array([0, 1])]
    a + f
    a + np.array([1, 2, 3])
    a + x
    a == 2
    a @ f
    -a
    a.shape
    a.ndim
    a.tolist()
    a.reshape([3, 2])
    a.T
    tnp.add(1)
    tnp.zeros("a")
    tnp.concatenate([a, [1]])
    """,
    globals(),
)
