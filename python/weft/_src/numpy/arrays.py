"""Making arrays, and giving them other shapes."""

import numpy as np

import weft as tf
from weft._src.numpy.types import as_tensor, as_type, default_float, default_int, promoted, result_dtype

# ---- making ----------------------------------------------------------------------------------------------


def array(val, dtype=None, copy=True, ndmin=0):
    made = as_tensor(val, dtype)
    if copy:
        made = tf.identity(made)
    missing = ndmin - made.shape.rank
    return tf.reshape(made, [1] * missing + made.shape.as_list()) if missing > 0 else made


def asarray(a, dtype=None):
    return as_tensor(a, dtype)


asanyarray = ascontiguousarray = asarray


def copy(a):
    return array(a, copy=True)


def _type(dtype):
    return as_type(dtype)


def _shape(shape):
    return [int(shape)] if isinstance(shape, (int, np.integer)) else shape


def zeros(shape, dtype=float):
    return tf.zeros(_shape(shape), _type(dtype))


def ones(shape, dtype=float):
    return tf.ones(_shape(shape), _type(dtype))


empty = zeros


def zeros_like(a, dtype=None):
    return tf.zeros_like(as_tensor(a), None if dtype is None else as_type(dtype))


def ones_like(a, dtype=None):
    return tf.ones_like(as_tensor(a), None if dtype is None else as_type(dtype))


empty_like = zeros_like


def full(shape, fill_value, dtype=None):
    return tf.broadcast_to(as_tensor(fill_value, dtype), _shape(shape))


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    a = as_tensor(a)
    return tf.broadcast_to(
        as_tensor(fill_value, a.dtype if dtype is None else dtype), tf.shape(a) if shape is None else _shape(shape)
    )


def eye(N, M=None, k=0, dtype=float):
    return tf.cast(tri_mask(N, N if M is None else M, lambda r, c: c - r == k), _type(dtype))


def identity(n, dtype=float):
    return eye(n, dtype=dtype)


def tri_mask(rows, columns, inside):
    r, c = tf.reshape(tf.range(rows), [-1, 1]), tf.reshape(tf.range(columns), [1, -1])
    return inside(r, c)


def tri(N, M=None, k=0, dtype=None):
    return tf.cast(
        tri_mask(N, N if M is None else M, lambda r, c: c - r <= k), default_float() if dtype is None else _type(dtype)
    )


def tril(m, k=0):
    m = as_tensor(m)
    return tf.where(tri_mask(m.shape[-2], m.shape[-1], lambda r, c: c - r <= k), m, tf.zeros_like(m))


def triu(m, k=0):
    m = as_tensor(m)
    return tf.where(tri_mask(m.shape[-2], m.shape[-1], lambda r, c: c - r >= k), m, tf.zeros_like(m))


def arange(start, stop=None, step=1, dtype=None):
    if not step:
        raise ValueError("step must be non-zero.")
    if stop is None:
        start, stop = 0, start
    dtype = result_dtype(as_tensor(start), as_tensor(stop), as_tensor(step)) if dtype is None else as_type(dtype)
    if (step > 0 and stop < start) or (step < 0 and stop > start):
        return tf.zeros([0], dtype)
    return tf.cast(tf.range(as_tensor(start, dtype), as_tensor(stop, dtype), as_tensor(step, dtype)), dtype)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=float, axis=0):
    wanted = _type(dtype)
    start, stop = as_tensor(start, default_float()), as_tensor(stop, default_float())
    if num < 0:
        raise ValueError(f"Argument `num` (number of samples) must be a non-negative integer. Received: num={num}")
    step = (stop - start) / max(num - 1 if endpoint else num, 1)
    made = tf.linspace(start, stop if endpoint else stop - step, num, axis=axis)
    made = tf.cast(made, wanted) if wanted.is_floating else made
    return (made, step) if retstep else made


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    made = tf.pow(as_tensor(base, default_float()), linspace(start, stop, num, endpoint, axis=axis))
    return made if dtype is None else tf.cast(made, as_type(dtype))


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    start, stop = as_tensor(start, default_float()), as_tensor(stop, default_float())
    made = tf.exp(linspace(tf.math.log(start), tf.math.log(stop), num, endpoint, axis=axis))
    return made if dtype is None else tf.cast(made, as_type(dtype))


def vander(x, N=None, increasing=False):
    x = as_tensor(x)
    n = x.shape[0] if N is None else N
    powers = tf.range(n) if increasing else tf.range(n - 1, -1, -1)
    return tf.pow(tf.expand_dims(x, -1), tf.cast(powers, x.dtype))


def diag(v, k=0):
    v = as_tensor(v)
    if v.shape.rank == 1:
        size = v.shape[0] + abs(k)
        padded = tf.pad(v, [[max(k, 0), max(-k, 0)]]) if k else v
        return tf.where(
            tri_mask(size, size, lambda r, c: c - r == k),
            tf.expand_dims(padded, 0) if k >= 0 else tf.expand_dims(padded, 1),
            tf.zeros([], v.dtype),
        )
    return diagonal(v, k)


def diagflat(v, k=0):
    return diag(ravel(v), k)


def diagonal(a, offset=0, axis1=0, axis2=1):
    a = moveaxis(as_tensor(a), (axis1, axis2), (-2, -1))
    rows, columns = a.shape[-2], a.shape[-1]
    a = a[..., max(0, -offset) :, max(0, offset) :]
    n = max(0, min(rows - max(0, -offset), columns - max(0, offset)))
    a = a[..., :n, :n]
    return tf.linalg.diag_part(a) if a.dtype != tf.bool else tf.linalg.diag_part(tf.cast(a, tf.int32)) > 0


def diag_indices(n, ndim=2):
    return (tf.range(n),) * ndim


def meshgrid(*xi, **kwargs):
    if kwargs.get("sparse") or kwargs.get("copy") is False:
        raise ValueError("tnp.meshgrid doesn't support sparse=True or copy=False.")
    return tf.meshgrid(*[as_tensor(x) for x in xi], indexing=kwargs.get("indexing", "xy"))


def ix_(*args):
    n = len(args)
    made = []
    for i, a in enumerate(args):
        a = as_tensor(a)
        if a.shape.rank != 1:
            raise ValueError("Arguments must be 1-d.")
        a = tf.cast(tf.reshape(tf.where(a), [-1]), default_int()) if a.dtype == tf.bool else a
        made.append(tf.reshape(a, [1] * i + [-1] + [1] * (n - i - 1)))
    return made


# ---- shapes ----------------------------------------------------------------------------------------------


def shape(a):
    return as_tensor(a).shape


def ndim(a):
    return as_tensor(a).shape.rank


def size(x, axis=None):
    if axis is not None:
        raise NotImplementedError("axis argument is not supported in the current `np.size` implementation")
    known = as_tensor(x).shape.num_elements()
    return np.int64(known) if known is not None else tf.size(as_tensor(x))


def reshape(a, newshape, order="C"):
    a = as_tensor(a)
    newshape = _shape(newshape)
    if order == "F":
        return tf.transpose(tf.reshape(tf.transpose(a), list(newshape)[::-1]))
    return tf.reshape(a, newshape)


def ravel(a):
    return tf.reshape(as_tensor(a), [-1])


def flatten(a, order="C"):
    a = as_tensor(a)
    return tf.reshape(tf.transpose(a) if order == "F" else a, [-1])


def transpose(a, axes=None):
    return tf.transpose(as_tensor(a), None if axes is None else list(axes))


def swapaxes(a, axis1, axis2):
    a = as_tensor(a)
    order = list(range(a.shape.rank))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(a, order)


def moveaxis(a, source, destination):
    a = as_tensor(a)
    source = [source] if isinstance(source, int) else list(source)
    destination = [destination] if isinstance(destination, int) else list(destination)
    rank = a.shape.rank
    source, destination = [s % rank for s in source], [d % rank for d in destination]
    order = [i for i in range(rank) if i not in source]
    for d, s in sorted(zip(destination, source)):
        order.insert(d, s)
    return tf.transpose(a, order)


def expand_dims(a, axis):
    return tf.expand_dims(as_tensor(a), axis)


def squeeze(a, axis=None):
    return tf.squeeze(as_tensor(a), None if axis is None else axis)


def atleast_1d(*arys):
    return _at_least(1, arys)


def atleast_2d(*arys):
    return _at_least(2, arys)


def atleast_3d(*arys):
    return _at_least(3, arys)


def _at_least(n, arrays):
    made = []
    for a in arrays:
        a = as_tensor(a)
        dims = a.shape.as_list()
        if len(dims) < n:
            dims = [1] * (n - len(dims)) + dims if n < 3 else {0: [1, 1, 1], 1: [1, *dims, 1], 2: [*dims, 1]}[len(dims)]
        made.append(tf.reshape(a, dims))
    return made[0] if len(made) == 1 else made


def broadcast_to(array, shape):
    return tf.broadcast_to(as_tensor(array), _shape(shape))


def broadcast_arrays(*args, **kwargs):
    arrays = [as_tensor(a) for a in args]
    target = arrays[0].shape
    for a in arrays[1:]:
        target = tf.broadcast_static_shape(target, a.shape)
    return [tf.broadcast_to(a, target) for a in arrays]


# ---- putting together, taking apart ----------------------------------------------------------------------


def concatenate(arys, axis=0):
    arrays = promoted(*arys)
    if axis is None:
        return tf.concat([tf.reshape(a, [-1]) for a in arrays], 0)
    return tf.concat(arrays, axis)


def stack(arrays, axis=0):
    return tf.stack(promoted(*arrays), axis)


def hstack(tup):
    arrays = [atleast_1d(a) for a in promoted(*tup)]
    return tf.concat(arrays, 0 if arrays[0].shape.rank == 1 else 1)


def vstack(tup):
    return tf.concat([atleast_2d(a) for a in promoted(*tup)], 0)


def dstack(tup):
    return tf.concat([atleast_3d(a) for a in promoted(*tup)], 2)


def append(arr, values, axis=None):
    return concatenate([ravel(arr), ravel(values)]) if axis is None else concatenate([arr, values], axis)


def split(ary, indices_or_sections, axis=0):
    ary = as_tensor(ary)
    if not isinstance(indices_or_sections, (list, tuple)):
        return tf.split(ary, indices_or_sections, axis)
    edges = [0, *indices_or_sections, ary.shape[axis]]
    return tf.split(ary, [b - a for a, b in zip(edges, edges[1:])], axis)


def vsplit(ary, indices_or_sections):
    return split(ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    return split(ary, indices_or_sections, 0 if as_tensor(ary).shape.rank == 1 else 1)


def dsplit(ary, indices_or_sections):
    return split(ary, indices_or_sections, 2)


def tile(a, reps):
    a = as_tensor(a)
    reps = [reps] if isinstance(reps, (int, np.integer)) else list(reps)
    rank = max(a.shape.rank, len(reps))
    a = tf.reshape(a, [1] * (rank - a.shape.rank) + a.shape.as_list())
    return tf.tile(a, [1] * (rank - len(reps)) + reps)


def repeat(a, repeats, axis=None):
    return tf.repeat(as_tensor(a), repeats, axis)


def roll(a, shift, axis=None):
    a = as_tensor(a)
    return (
        tf.roll(a, shift, axis) if axis is not None else tf.reshape(tf.roll(tf.reshape(a, [-1]), shift, 0), tf.shape(a))
    )


def flip(m, axis=None):
    m = as_tensor(m)
    axes = list(range(m.shape.rank)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    return tf.reverse(m, axes)


def flipud(m):
    return flip(m, 0)


def fliplr(m):
    return flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    m = as_tensor(m)
    order = list(range(m.shape.rank))
    order[axes[0]], order[axes[1]] = order[axes[1]], order[axes[0]]
    k %= 4
    if k == 0:
        return m
    if k == 2:
        return flip(m, list(axes))
    return tf.transpose(flip(m, axes[1]), order) if k == 1 else flip(tf.transpose(m, order), axes[1])


def pad(array, pad_width, mode, **kwargs):
    values = kwargs.get("constant_values", 0)
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError("Unsupported padding mode: " + mode)
    array = as_tensor(array)
    width = np.broadcast_to(np.asarray(pad_width), (array.shape.rank, 2)).tolist()
    return (
        tf.pad(array, width, mode.upper(), constant_values=tf.cast(values, array.dtype))
        if mode == "constant"
        else tf.pad(array, width, mode.upper())
    )


# ---- elements --------------------------------------------------------------------------------------------


def nonzero(a):
    a = atleast_1d(a)
    return tf.unstack(tf.where(a if a.dtype == tf.bool else a != 0), num=a.shape.rank, axis=1)


def take(a, indices, axis=None, out=None, mode="clip"):
    a, indices = as_tensor(a), as_tensor(indices)
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    n = tf.cast(tf.shape(a)[axis], indices.dtype)
    indices = tf.clip_by_value(indices, 0, n - 1) if mode == "clip" else indices % n if mode == "wrap" else indices
    return tf.gather(a, indices, axis=axis)


def take_along_axis(arr, indices, axis):
    arr, indices = as_tensor(arr), as_tensor(indices)
    if axis is None:
        return tf.gather(tf.reshape(arr, [-1]), tf.reshape(indices, [-1]))
    arr, indices = moveaxis(arr, axis, -1), moveaxis(indices, axis, -1)
    outer = tf.broadcast_static_shape(arr.shape[:-1], indices.shape[:-1]).as_list()
    arr, indices = tf.broadcast_to(arr, outer + [arr.shape[-1]]), tf.broadcast_to(indices, outer + [indices.shape[-1]])
    return moveaxis(tf.gather(arr, indices, batch_dims=len(outer)), -1, axis)


def compress(condition, a, axis=None):
    a = as_tensor(a)
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    condition = as_tensor(condition, tf.bool)
    at = tf.reshape(tf.where(condition), [-1])
    return tf.gather(a, at, axis=axis)
