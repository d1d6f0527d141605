"""tensor[...]: the keys of Python's subscript as a strided slice."""

import numbers

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dispatch, dtypes
from weft._src.framework.tensor import EagerTensor, SymbolicTensor, Tensor
from weft._src.framework.tensor_shape import Dimension
from weft._src.ops._direct import scope, vector

_TEXT = "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices"
_ONE = _weft.convert_native([1], dtypes.int32)


def getitem(tensor, key):
    """The part of a tensor that a subscript names. Who takes over tf.__operators__.getitem is asked when a subscript is not understood."""
    try:
        return _getitem(tensor, key)
    except TypeError:
        if not dispatch.global_dispatchers:
            raise
        from weft._src.internal import operators

        result = dispatch.dispatch_api(operators.getitem, (tensor, key), {})
        if result is NotImplemented:
            raise
        return result


def _getitem(tensor, key):
    kind = type(key)
    if kind is int and not _weft.in_graph():
        if -(2**31) <= key < 2**31 - 1:
            return raw.StridedSlice(
                input=tensor,
                begin=vector(key),
                end=vector(key + 1),
                strides=_ONE,
                shrink_axis_mask=1,
                name="strided_slice/",
            )
    if _is_mask(key):
        from weft._src.ops.array_ops import boolean_mask

        return boolean_mask(tensor, key)
    begin, end, strides, masks = spec(key)
    if not _weft.in_graph():
        parts = _same_kind([_index(begin), _index(end), _index(strides)])
        return raw.StridedSlice(
            input=tensor, begin=parts[0], end=parts[1], strides=parts[2], name="strided_slice/", **masks
        )
    with scope(None, "strided_slice") as name:
        parts = _same_kind([_packed(begin, "stack"), _packed(end, "stack_1"), _packed(strides, "stack_2")])
        return raw.StridedSlice(input=tensor, begin=parts[0], end=parts[1], strides=parts[2], name=name, **masks)


def _same_kind(parts):
    if any(p.dtype is dtypes.int64 for p in parts):
        return [p if p.dtype is dtypes.int64 else raw.Cast(x=p, DstT=dtypes.int64) for p in parts]
    return parts


def _is_mask(key):
    if isinstance(key, bool):
        return True
    if isinstance(key, Tensor):
        return key.dtype is dtypes.bool
    return type(key).__name__ == "ndarray" and key.dtype == bool


def spec(key):
    """A subscript as (begin, end, strides, masks by attribute name) of the op StridedSlice."""
    begin, end, strides = [], [], []
    begin_mask = end_mask = ellipsis_mask = new_axis_mask = shrink_axis_mask = 0
    bit = 1
    for item in key if isinstance(key, (list, tuple)) else (key,):
        if isinstance(item, slice):
            left_out = _left_out(item)
            if _open(item.start):
                begin.append(left_out(0))
                begin_mask |= bit
            else:
                begin.append(_checked(item.start))
            if _open(item.stop):
                end.append(left_out(0))
                end_mask |= bit
            else:
                end.append(_checked(item.stop))
            strides.append(left_out(1) if _open(item.step) else _checked(item.step))
        elif item is Ellipsis or item is None:
            if item is None:
                new_axis_mask |= bit
            else:
                ellipsis_mask |= bit
            begin.append(0)
            end.append(0)
            strides.append(1)
        else:
            item = _checked(item)
            begin.append(item)
            end.append(item + 1)
            strides.append(1)
            shrink_axis_mask |= bit
        bit <<= 1
    return (
        begin,
        end,
        strides,
        {
            "begin_mask": begin_mask,
            "end_mask": end_mask,
            "ellipsis_mask": ellipsis_mask,
            "new_axis_mask": new_axis_mask,
            "shrink_axis_mask": shrink_axis_mask,
        },
    )


def _left_out(item):
    """What stands for parts of a slice that are left out: beside a tensor of the graph, constants of its type."""
    for part in (item.start, item.stop, item.step):
        if isinstance(part, SymbolicTensor):
            from weft._src.framework.convert import constant

            return lambda n: constant(n, part.dtype)
    return int


def _open(bound):
    return bound is None or (isinstance(bound, Dimension) and bound.value is None)


def _checked(index):
    if type(index) is int:
        return index
    if isinstance(index, numbers.Integral):
        return int(index)
    if isinstance(index, Dimension):
        return index.value
    dtype = getattr(index, "dtype", None)
    if dtype is not None:
        try:
            dtype = dtypes.as_dtype(dtype)
        except TypeError:
            dtype = None
    if dtype not in (dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint16) or (
        index.shape and len(index.shape) == 1
    ):
        raise TypeError(f"{_TEXT}, got {index!r}")
    return index


def _index(values):
    """Eager indices as one tensor."""
    if all([type(v) is int and -(2**31) <= v < 2**31 for v in values]):
        return vector(*values)
    plain = [int(v) if isinstance(v, EagerTensor) and not v._shape_tuple() else v for v in values]
    return _packed(plain, None)


def _packed(values, name):
    """Indices as one vector: a constant where all are numbers."""
    from weft._src.framework.convert import _pack, constant, convert_to_tensor

    if all(type(v) is int for v in values):
        kind = dtypes.int32 if all(-(2**31) <= v < 2**31 for v in values) else dtypes.int64
        return constant(values, kind, [len(values)], name=name) if name else _weft.convert_native(values, kind)
    tensors = [v if type(v) is int else convert_to_tensor(v) for v in values]
    wide = any(not isinstance(t, int) and t.dtype is dtypes.int64 for t in tensors)
    kind = dtypes.int64 if wide else dtypes.int32
    tensors = [t if type(t) is int else t if t.dtype is kind else raw.Cast(x=t, DstT=kind) for t in tensors]
    return _pack(tensors, kind, name)
