"""Functions that take dimensions away or go along them."""

import numpy as np

import weft as tf
from weft._src.numpy.types import as_tensor, as_type, default_int, floating, promoted


def _axes(axis):
    return axis if axis is None or isinstance(axis, (int, np.integer)) else [int(a) for a in axis]


def _summed(function, a, axis, dtype, keepdims):
    a = as_tensor(a)
    if dtype is not None:
        a = tf.cast(a, as_type(dtype))
    elif a.dtype == tf.bool or (a.dtype.is_integer and a.dtype.size < default_int().size):
        a = tf.cast(
            a, (tf.uint64 if default_int() is tf.int64 else tf.uint32) if a.dtype.is_unsigned else default_int()
        )
    return function(a, _axes(axis), keepdims=bool(keepdims))


def sum(a, axis=None, dtype=None, keepdims=None):
    return _summed(tf.reduce_sum, a, axis, dtype, keepdims)


def prod(a, axis=None, dtype=None, keepdims=None):
    return _summed(tf.reduce_prod, a, axis, dtype, keepdims)


def mean(a, axis=None, dtype=None, out=None, keepdims=None):
    a = floating(a) if dtype is None else tf.cast(as_tensor(a), as_type(dtype))
    return tf.reduce_mean(a, _axes(axis), keepdims=bool(keepdims))


def amax(a, axis=None, out=None, keepdims=None):
    return _extreme(tf.reduce_max, tf.reduce_any, a, axis, keepdims)


def amin(a, axis=None, out=None, keepdims=None):
    return _extreme(tf.reduce_min, tf.reduce_all, a, axis, keepdims)


def _extreme(function, of_bools, a, axis, keepdims):
    a = as_tensor(a)
    return (of_bools if a.dtype == tf.bool else function)(a, _axes(axis), keepdims=bool(keepdims))


def max(a, axis=None, keepdims=None):
    return amax(a, axis, None, keepdims)


def min(a, axis=None, keepdims=None):
    return amin(a, axis, None, keepdims)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=None):
    a = as_tensor(a)
    work = floating(a) if dtype is None else tf.cast(a, as_type(dtype))
    spread = work - tf.reduce_mean(work, _axes(axis), keepdims=True)
    squares = tf.math.real(spread * tf.math.conj(spread)) if work.dtype.is_complex else tf.square(spread)
    if not ddof:
        return tf.reduce_mean(squares, _axes(axis), keepdims=bool(keepdims))
    total = tf.reduce_sum(squares, _axes(axis), keepdims=bool(keepdims))
    count = tf.size(work) // tf.maximum(tf.size(total), 1)
    return total / tf.cast(count - ddof, total.dtype)


def std(a, axis=None, keepdims=None):
    return tf.sqrt(var(a, axis, keepdims=keepdims))


def all(a, axis=None, keepdims=None):
    a = as_tensor(a)
    return tf.reduce_all(a if a.dtype == tf.bool else a != 0, _axes(axis), keepdims=bool(keepdims))


def any(a, axis=None, keepdims=None):
    a = as_tensor(a)
    return tf.reduce_any(a if a.dtype == tf.bool else a != 0, _axes(axis), keepdims=bool(keepdims))


def ptp(a, axis=None, keepdims=None):
    return max(a, axis, keepdims) - min(a, axis, keepdims)


def count_nonzero(a, axis=None):
    a = as_tensor(a)
    return tf.reduce_sum(tf.cast(a if a.dtype == tf.bool else a != 0, tf.int64), _axes(axis))


def average(a, axis=None, weights=None, returned=False):
    if weights is None:
        made = mean(a, axis)
        weights_sum = tf.cast(tf.size(as_tensor(a)) // tf.maximum(tf.size(made), 1), made.dtype) * tf.ones_like(made)
    else:
        a, weights = promoted(floating(a), floating(weights))
        if weights.shape != a.shape:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            shape = [1] * a.shape.rank
            shape[axis] = -1
            weights = tf.reshape(weights, shape)
        weights_sum = tf.reduce_sum(weights + tf.zeros_like(a), _axes(axis))
        made = tf.reduce_sum(a * weights, _axes(axis)) / weights_sum
    return (made, weights_sum) if returned else made


def _without_nan(a, instead):
    a = as_tensor(a)
    return tf.where(tf.math.is_nan(a), tf.cast(instead, a.dtype), a) if a.dtype.is_floating else a


def nansum(a, axis=None, dtype=None, keepdims=False):
    return sum(_without_nan(a, 0), axis, dtype, keepdims)


def nanprod(a, axis=None, dtype=None, keepdims=False):
    return prod(_without_nan(a, 1), axis, dtype, keepdims)


def nanmean(a, axis=None, dtype=None, keepdims=None):
    a = as_tensor(a)
    if not a.dtype.is_floating:
        return mean(a, axis, dtype, None, keepdims)
    count = tf.reduce_sum(tf.cast(~tf.math.is_nan(a), a.dtype), _axes(axis), keepdims=bool(keepdims))
    return nansum(a, axis, dtype, keepdims) / count


def _along(function, a, axis, dtype):
    a = as_tensor(a)
    a = (
        tf.cast(a, as_type(dtype))
        if dtype is not None
        else (
            tf.cast(a, default_int())
            if a.dtype == tf.bool or (a.dtype.is_integer and a.dtype.size < default_int().size)
            else a
        )
    )
    return function(tf.reshape(a, [-1]), 0) if axis is None else function(a, axis)


def cumsum(a, axis=None, dtype=None):
    return _along(tf.cumsum, a, axis, dtype)


def cumprod(a, axis=None, dtype=None):
    return _along(tf.math.cumprod, a, axis, dtype)


def _arg(function, a, axis):
    a = as_tensor(a)
    a = tf.cast(a, tf.int8) if a.dtype == tf.bool else a
    return (
        function(tf.reshape(a, [-1]), 0, tf.int64)
        if axis is None
        else function(tf.reshape(a, [-1]) if a.shape.rank == 0 else a, axis, tf.int64)
    )


def argmax(a, axis=None):
    return _arg(tf.argmax, a, axis)


def argmin(a, axis=None):
    return _arg(tf.argmin, a, axis)


def sort(a, axis=-1, kind="quicksort", order=None):
    if order is not None:
        raise ValueError("'order' argument to sort is not supported.")
    a = as_tensor(a)
    return tf.sort(tf.reshape(a, [-1])) if axis is None else tf.sort(a, axis)


def argsort(a, axis=-1, kind="quicksort", order=None):
    if order is not None:
        raise ValueError("'order' argument to argsort is not supported.")
    a = as_tensor(a)
    made = tf.argsort(tf.reshape(a, [-1])) if axis is None else tf.argsort(a, axis, stable=kind == "stable")
    return tf.cast(made, tf.int64)


def diff(a, n=1, axis=-1):
    a = as_tensor(a)
    axis = axis % a.shape.rank
    for _ in range(n):
        before = [slice(None)] * a.shape.rank
        after = list(before)
        before[axis], after[axis] = slice(None, -1), slice(1, None)
        a = (
            tf.not_equal(a[tuple(after)], a[tuple(before)])
            if a.dtype == tf.bool
            else a[tuple(after)] - a[tuple(before)]
        )
    return a


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    from weft._src.numpy.arrays import diagonal

    return sum(diagonal(a, offset, axis1, axis2), -1, dtype)


# ---- products --------------------------------------------------------------------------------------------


def matmul(x1, x2):
    a, b = promoted(x1, x2)
    if a.shape.rank == 0 or b.shape.rank == 0:
        raise ValueError("matmul: Input operand does not have enough dimensions: scalars are not allowed.")
    try:
        if a.shape.rank == 1 and b.shape.rank == 1:
            return tf.tensordot(a, b, 1)
        if b.shape.rank == 1:
            return tf.linalg.matvec(a, b)
        if a.shape.rank == 1:
            return tf.squeeze(tf.matmul(tf.expand_dims(a, 0), b), -2)
        return tf.matmul(a, b)
    except tf.errors.InvalidArgumentError as e:
        raise ValueError(str(e)) from e


def dot(a, b):
    a, b = promoted(a, b)
    if a.shape.rank == 0 or b.shape.rank == 0:
        return a * b
    return tf.tensordot(a, b, [[a.shape.rank - 1], [0 if b.shape.rank == 1 else b.shape.rank - 2]])


def vdot(a, b):
    a, b = promoted(a, b)
    a, b = tf.reshape(a, [-1]), tf.reshape(b, [-1])
    return tf.tensordot(tf.math.conj(a) if a.dtype.is_complex else a, b, 1)


def inner(a, b):
    a, b = promoted(a, b)
    if a.shape.rank == 0 or b.shape.rank == 0:
        return a * b
    return tf.tensordot(a, b, [[a.shape.rank - 1], [b.shape.rank - 1]])


def outer(a, b):
    a, b = promoted(a, b)
    return tf.reshape(a, [-1, 1]) * tf.reshape(b, [-1])


def tensordot(a, b, axes=2):
    a, b = promoted(a, b)
    return tf.tensordot(a, b, axes)


def einsum(subscripts, *operands, **kwargs):
    return tf.einsum(subscripts, *promoted(*operands))


def kron(a, b):
    a, b = promoted(a, b)
    rank = a.shape.rank if a.shape.rank > b.shape.rank else b.shape.rank
    a = tf.reshape(a, [1] * (rank - a.shape.rank) + a.shape.as_list())
    b = tf.reshape(b, [1] * (rank - b.shape.rank) + b.shape.as_list())
    pairs = [d for pair in zip(a.shape.as_list(), [1] * rank) for d in pair]
    other = [d for pair in zip([1] * rank, b.shape.as_list()) for d in pair]
    return tf.reshape(
        tf.reshape(a, pairs) * tf.reshape(b, other), [x * y for x, y in zip(a.shape.as_list(), b.shape.as_list())]
    )


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    a, b = promoted(a, b)
    axisa, axisb, axisc = (axis, axis, axis) if axis is not None else (axisa, axisb, axisc)
    from weft._src.numpy.arrays import moveaxis

    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    flat = a.shape[-1] == 2 and b.shape[-1] == 2
    a, b = (tf.pad(v, [[0, 0]] * (v.shape.rank - 1) + [[0, 1]]) if v.shape[-1] == 2 else v for v in (a, b))
    shape = tf.broadcast_static_shape(a.shape, b.shape)
    made = tf.linalg.cross(tf.broadcast_to(a, shape), tf.broadcast_to(b, shape))
    return made[..., 2] if flat else moveaxis(made, -1, axisc)


def polyval(p, x):
    p, x = promoted(p, x)
    made = tf.zeros_like(x)
    for c in tf.unstack(p):
        made = made * x + c
    return made
