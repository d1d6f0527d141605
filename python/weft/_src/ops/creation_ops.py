"""Tensors of given shapes: zeros, ones, fill, eye, range, linspace, one_hot, meshgrid."""

import functools
import numbers
from builtins import range as _count

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant, convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.static_value import shaped
from weft._src.framework.tensor import EagerTensor, Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.ops._direct import scope, vector


def _no_layout(layout):
    if layout is not None:
        raise NotImplementedError("weft has no DTensor layouts: `layout` must be None")


def _dims(shape):
    """A shape argument as TensorFlow reads it: (static sizes or None, what an op takes)."""
    if isinstance(shape, Tensor) or isinstance(shape, _weft.VariableBase):
        if shape.shape.rank == 0:
            shape = raw.Reshape(tensor=shape, shape=[-1])
        if isinstance(shape, EagerTensor):
            return shape._to_list(), shape
        return None, shape
    if isinstance(shape, (str, bytes)):
        return None, convert_to_tensor(shape, dtypes.int32)
    if not isinstance(shape, TensorShape):
        if isinstance(shape, (list, tuple)) and any(isinstance(s, Tensor) for s in shape):
            if all(isinstance(s, (int, EagerTensor)) for s in shape):
                shape = [int(s) for s in shape]
            else:
                return None, (
                    convert_to_tensor(shape, dtypes.int32)
                    if not any(isinstance(s, Tensor) and s.dtype is dtypes.int64 for s in shape)
                    else convert_to_tensor(shape)
                )
        elif isinstance(shape, (list, tuple)) and any(isinstance(s, float) for s in shape):
            return None, convert_to_tensor(shape, dtypes.int32)
        elif isinstance(shape, (list, tuple)) and any(_negative(s) for s in shape):
            # The op refuses it, with its text.
            return None, convert_to_tensor(shape)
        elif isinstance(shape, (list, tuple)) and None in shape and not _weft.in_graph():
            return None, convert_to_tensor(shape)
        if hasattr(shape, "tolist") and not isinstance(shape, (list, tuple)):
            shape = shape.tolist()
        shape = TensorShape(shape)
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    sizes = shape.as_list()
    return sizes, _shape_tensor(sizes)


def _negative(size):
    return hasattr(size, "__index__") and size.__index__() < 0


def _shape_tensor(sizes):
    return _weft.convert_native(sizes, dtypes.int64 if any(s >= 2**31 for s in sizes) else dtypes.int32)


@functools.lru_cache(maxsize=256)
def _scalar(value, dtype):
    return _weft.convert_native(value, dtype)


def _filled(shape, value, dtype, name, default):
    if (
        type(shape) in (list, tuple)
        and not _weft.in_graph()
        and all([type(s) is int and 0 <= s < 2**31 for s in shape])
    ):
        scalar = _scalar(value, dtype)
        if scalar is not None:
            return raw.Fill(dims=vector(*shape), value=scalar, name=name)
    with scope(name, default) as name:
        sizes, dims = _dims(shape)
        if _weft.in_graph() and sizes is not None:
            count = 1
            for s in sizes:
                count *= s
            if count < 1000:
                return constant(value, dtype, sizes, name=name)
        return shaped(raw.Fill(dims=dims, value=constant(value, dtype), name=name), dims)


def _blank(dtype):
    return b"" if dtype is dtypes.string else False if dtype is dtypes.bool else 0


@dispatchable
def zeros(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of zeros."""
    _no_layout(layout)
    dtype = dtypes.as_dtype(dtype).base_dtype
    return _filled(shape, _blank(dtype), dtype, name, "zeros")


@dispatchable
def ones(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of ones."""
    _no_layout(layout)
    dtype = dtypes.as_dtype(dtype).base_dtype
    return _filled(shape, dtype is dtypes.bool or 1, dtype, name, "ones")


@dispatchable
def zeros_like(input, dtype=None, name=None, layout=None):
    """Zeros in the shape of another tensor."""
    _no_layout(layout)
    return _like(input, dtype, name, "zeros_like", False)


@dispatchable
def ones_like(input, dtype=None, name=None, layout=None):
    """Ones in the shape of another tensor."""
    _no_layout(layout)
    return _like(input, dtype, name, "ones_like", True)


def _like(input, dtype, name, default, one):
    if not isinstance(input, Tensor):
        if _weft.in_graph() and isinstance(input, _weft.VariableBase) and input.shape.is_fully_defined():
            return (ones if one else zeros)(input.shape, dtype or input.dtype, name=name or default)
        if _weft.in_graph():
            with scope(name, default) as name:
                return _like(convert_to_tensor(input, name="tensor"), dtype, name, default, one)
        input = convert_to_tensor(input)
    same = dtype is None or dtypes.as_dtype(dtype).base_dtype is input.dtype
    dtype = input.dtype if same else dtypes.as_dtype(dtype).base_dtype
    sizes = input._shape_tuple()
    if sizes is not None and None not in sizes and _weft.in_graph() and dtype is not dtypes.variant:
        if not one:
            return zeros(list(sizes), dtype, name=name or default)
        with scope(name, default) as name:
            dims = convert_to_tensor(sizes, dtypes.int32, name="Shape/shape_as_tensor")
            return raw.Fill(dims=dims, value=convert_to_tensor(dtype is dtypes.bool or 1, dtype), name=name)
    if same:
        return (raw.OnesLike if one else raw.ZerosLike)(x=input, name=name or default)
    with scope(name, default) as name:
        from weft._src.ops.array_ops import shape

        return (ones if one else zeros)(shape(input), dtype, name=name)


@dispatchable
def fill(dims, value, name=None, layout=None):
    """A tensor of one value."""
    _no_layout(layout)
    return shaped(raw.Fill(dims=dims, value=value, name=name), dims)


@dispatchable
def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None):
    """Identity matrices."""
    from weft._src.ops import array_ops, linalg_ops

    with scope(name, "eye") as name:
        num_rows, num_columns = (int(n) if isinstance(n, numbers.Integral) else n for n in (num_rows, num_columns))
        square = num_columns is None
        if square:
            num_columns = num_rows
        batch = [] if batch_shape is None else batch_shape
        least = min(num_rows, num_columns) if isinstance(num_rows, int) and isinstance(num_columns, int) else None
        if least is not None and not isinstance(batch, Tensor):
            sizes, shape = [*batch, least], [*batch, num_rows, num_columns]
        else:
            if least is None:
                least = convert_to_tensor(raw.Minimum(x=num_rows, y=num_columns), dtypes.int32)
            batch = convert_to_tensor(batch, dtypes.int32, name="shape")
            sizes = array_ops.concat([batch, [least]], 0)
            shape = None if square else array_ops.concat([batch, [num_rows, num_columns]], 0)
        diagonal = ones(sizes, dtype)
        if square:
            return linalg_ops.diag(diagonal, name="diag")
        empty = zeros(shape, dtype)
        return linalg_ops.set_diag(empty, diagonal, name="set_diag")


_RANGE_TYPES = [dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64]


@dispatchable
def range(start, limit=None, delta=1, dtype=None, name="range"):
    """Numbers from start to before limit by steps of delta."""
    if limit is None:
        start, limit = 0, start
    with scope(name, "range") as name:
        if dtype is not None:
            dtype = dtypes.as_dtype(dtype)
        parts = [
            v if isinstance(v, Tensor) else convert_to_tensor(v, dtype, name=n)
            for v, n in ((start, "start"), (limit, "limit"), (delta, "delta"))
        ]
        if dtype is None:
            if any(p.dtype not in _RANGE_TYPES for p in parts):
                raise AssertionError  # as TensorFlow does, without a word
            dtype = max((p.dtype for p in parts), key=_RANGE_TYPES.index)
        parts = [p if p.dtype is dtype else raw.Cast(x=p, DstT=dtype) for p in parts]
        return raw.Range(start=parts[0], limit=parts[1], delta=parts[2], name=name if _weft.in_graph() else None)


@dispatchable
def linspace(start, stop, num, name=None, axis=0):
    """num numbers from start to stop, both included, evenly apart along a new axis."""
    from weft._src.ops import array_ops

    with scope(name, "linspace"):
        start = convert_to_tensor(start, name="start")
        stop = convert_to_tensor(stop, start.dtype, name="stop")
        num = convert_to_tensor(num, name="num")
        if num.dtype not in (dtypes.int32, dtypes.int64):
            raise TypeError(f"Cannot convert {num!r} to a Tensor of dtype int32")
        num = num if num.dtype is dtypes.int32 else raw.Cast(x=num, DstT=dtypes.int32)
        both = raw.BroadcastArgs(s0=array_ops.shape(start), s1=array_ops.shape(stop))
        start = array_ops.expand_dims(raw.BroadcastTo(input=start, shape=both), axis)
        stop = array_ops.expand_dims(raw.BroadcastTo(input=stop, shape=both), axis)
        rank = start.shape.rank
        if rank is None:
            raise NotImplementedError("tf.linspace of tensors without a known rank")
        axis = axis if axis >= 0 else rank + axis
        gaps = raw.Maximum(x=num - 1, y=1)
        count = raw.Cast(x=gaps, DstT=start.dtype)
        step = (stop - start) / count
        if step.dtype is not start.dtype:
            start, stop = raw.Cast(x=start, DstT=step.dtype), raw.Cast(x=stop, DstT=step.dtype)
        inner = raw.Cast(x=range(1, array_ops.where(num >= 0, gaps, -1), dtype=dtypes.int64), DstT=start.dtype)
        inner = raw.Reshape(tensor=inner, shape=[-1 if i == axis else 1 for i in _count(rank)])
        whole = raw.ConcatV2(values=[start, start + step * inner, stop], axis=axis)
        size = [num if i == axis else -1 for i in _count(rank)]
        return raw.Slice(input=whole, begin=[0] * rank, size=size)


@dispatchable
def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """A new axis with on_value where an index says so, off_value elsewhere."""
    with scope(name, "one_hot") as name:
        given = [v for v in (on_value, off_value) if v is not None]
        kinds = {convert_to_tensor(v, dtype_hint=dtype).dtype.base_dtype for v in given}
        if dtype is not None:
            dtype = dtypes.as_dtype(dtype)
            for which, v in (("on_value", on_value), ("off_value", off_value)):
                kind = None if v is None else convert_to_tensor(v, dtype_hint=dtype).dtype.base_dtype
                if kind is not None and kind is not dtype:
                    raise TypeError(f"dtype {kind} of {which} does not match dtype parameter {dtype}")
        elif kinds:
            dtype = next(iter(kinds))
            if len(kinds) > 1:
                raise TypeError(
                    f"dtype {convert_to_tensor(on_value).dtype} of on_value does not match dtype {convert_to_tensor(off_value).dtype} of off_value"
                )
        else:
            dtype = dtypes.float32
        on_value = convert_to_tensor(1 if on_value is None else on_value, dtype, name="on_value")
        off_value = convert_to_tensor(0 if off_value is None else off_value, dtype, name="off_value")
        return raw.OneHot(
            indices=indices,
            depth=depth,
            on_value=on_value,
            off_value=off_value,
            axis=-1 if axis is None else axis,
            name=name,
        )


def meshgrid(*args, **kwargs):
    """Coordinates of a grid, one tensor for each axis."""
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    with scope(name, "meshgrid"):
        n = len(args)
        if n == 0:
            return []
        if n > 1 and indexing == "xy":
            order = [1, 0, *_count(2, n)]
        else:
            order = list(_count(n))
        parts = [convert_to_tensor(a) for a in args]
        dtype = parts[0].dtype
        lengths = [raw.Size(input=p) for p in parts]
        sizes = convert_to_tensor([lengths[i] for i in order])
        grid = []
        for i, part in enumerate(parts):
            shape = [1] * n
            shape[order.index(i)] = -1
            grid.append(raw.Reshape(tensor=part, shape=shape) * ones(sizes, dtype))
        return grid


@dispatchable
def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool, name=None):
    """True at the first `lengths` places of each row."""
    from weft._src.ops import array_ops, math_ops

    with scope(name, "SequenceMask"):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            maxlen = raw.Maximum(x=math_ops.reduce_max(lengths), y=raw.Cast(x=0, DstT=lengths.dtype))
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.shape.rank not in (0, None):
            raise ValueError(
                f"Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = {maxlen} with shape '{maxlen.shape}' instead"
            )
        zero, one = convert_to_tensor(0, maxlen.dtype), convert_to_tensor(1, maxlen.dtype)
        row = raw.Range(start=zero, limit=maxlen, delta=one)
        ends = raw.Cast(x=array_ops.expand_dims(lengths, -1), DstT=maxlen.dtype)
        found = row < ends
        return found if dtype is None or dtypes.as_dtype(dtype) is dtypes.bool else math_ops.cast(found, dtype)
