"""rt[...]: rows, columns and ranges of ragged tensors. Keys of dense parts go to the tensors themselves."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor import Tensor
from weft._src.ops import creation_ops
from weft._src.ops._direct import scope
from weft._src.ops.ragged.ragged_tensor import RaggedTensor
from weft._src.ops.ragged.row_partition import RowPartition, at

_OUTSIDE = "Index out of bounds when indexing into a ragged tensor"


def getitem(rt, key):
    if not isinstance(rt, RaggedTensor):  # a library's object that uses the method as its own
        from weft._src.internal.operators import ragged_getitem

        return ragged_getitem(rt, key)
    with scope(None, "RaggedGetItem"):
        return _outer(rt, list(key) if isinstance(key, (list, tuple)) else [key])


def _expanded(keys, rank):
    """Keys without the ellipsis in front, or with one more whole axis before it."""
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    given = sum(k is not None for k in keys)
    if given > rank + 1:
        raise IndexError("Too many indices for RaggedTensor")
    return keys[1:] if given == rank + 1 else [slice(None), *keys]


def _outer(rt, keys):
    """Keys for all axes, the first included."""
    if not keys:
        return rt
    key, rest = keys[0], keys[1:]
    if key is Ellipsis:
        return _outer(rt, _expanded(keys, rt.shape.rank))
    if key is None:
        inner = _outer(rt, rest)
        dtype = inner.row_splits.dtype
        length = inner.shape[0] if inner.shape[0] is not None else inner.nrows()
        return RaggedTensor._of(
            inner, RowPartition.from_uniform_row_length(length, nrows=1, validate=False, dtype=dtype)
        )
    if isinstance(key, slice):
        return _inner(_rows(rt, key), rest)
    starts, limits = rt.row_splits[:-1], rt.row_splits[1:]
    if not _weft.in_graph():
        try:
            outside = int(key) >= starts.shape[0]
        except (TypeError, ValueError):
            outside = False
        if outside:
            raise IndexError(f"Row key {key} out of bounds")
    row = rt.values[starts[key] : limits[key]]
    length = rt._row_partition.static_uniform_row_length
    if isinstance(row, Tensor) and length is not None:
        row.set_shape([length, *row.shape[1:]])
    return row[tuple(rest)] if rest else row


def _rows(rt, key):
    """rt[key] for a slice of rows."""
    if key == slice(None):
        return rt
    dtype = rt.row_splits.dtype
    uniform = rt.uniform_row_length
    starts, limits = rt.row_splits[:-1][key], rt.row_splits[1:][key]
    if key.step is None or (not isinstance(key.step, Tensor) and key.step == 1):
        count = starts.shape[0]
        if count is None:
            # Without a row there is still a first split.
            none = creation_ops.zeros([1], dtype)[raw.Size(input=starts) :]
            splits = raw.ConcatV2(values=[none, starts[:1], limits], axis=0)
        else:
            splits = raw.ConcatV2(values=[starts[:1] if count else convert_to_tensor([0], dtype), limits], axis=0)
        first = at(splits, 0)
        values, splits = rt.values[first : at(splits, -1)], raw.Sub(x=splits, y=first)
        return RaggedTensor._of(values, RowPartition._of_splits(splits, uniform))
    made = _of_ranges(starts, limits, 1, rt.values)
    return made if uniform is None else RaggedTensor._of(made.values, RowPartition._of_splits(made.row_splits, uniform))


def _inner(rt, keys):
    """Keys for the axes behind the first."""
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[(slice(None), *keys)]
    key, rest = keys[0], keys[1:]
    if key is Ellipsis:
        return _inner(rt, _expanded(keys, rt.values.shape.rank))
    if key is None:
        below = _inner(rt, rest)
        dtype = below.row_splits.dtype
        rows = below.shape[0] if below.shape[0] is not None else below.nrows()
        return RaggedTensor._of(below, RowPartition.from_uniform_row_length(1, nrows=rows, validate=False, dtype=dtype))
    if isinstance(key, slice):
        cut = rt if key == slice(None) else _columns(rt, key)
        return cut.with_values(_inner(cut.values, rest))
    if rt.uniform_row_length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    return _inner(_column(rt, key), rest)


def _column(rt, key):
    """rt[:, key] where all rows have the same length."""
    from weft._src.ops import check_ops, math_ops
    from weft._src.framework.graph import control_dependencies

    length = rt.uniform_row_length
    key = math_ops.cast(key, length.dtype)
    checks = [
        check_ops.assert_greater_equal(key, -length, message=_OUTSIDE),
        check_ops.assert_less(key, length, message=_OUTSIDE),
    ]
    with control_dependencies([c for c in checks if c is not None]):
        offset = _by_sign(key, lambda: key, lambda: raw.AddV2(x=length, y=key))
        return rt.values[offset::length]


def _by_sign(value, not_negative, negative):
    if isinstance(value, Tensor):
        known = constant_value(value)
        if known is None:
            from weft._src.function.control_flow import cond

            return cond(value >= 0, not_negative, negative)
        value = known
    return not_negative() if value >= 0 else negative()


def _columns(rt, key):
    """rt[:, key] for a slice of a ragged dimension: the slice of each row."""
    if not all(v is None or isinstance(v, (Tensor, int)) for v in (key.start, key.stop)):
        raise TypeError("slice offsets must be integers or None")
    dtype = rt.row_splits.dtype
    one = convert_to_tensor(1, dtype)
    starts, limits = rt.row_starts(), rt.row_limits()
    step = 1 if key.step is None else key.step
    low = _by_sign(step, lambda: starts, lambda: raw.Sub(x=starts, y=one))
    high = _by_sign(step, lambda: limits, lambda: raw.Sub(x=limits, y=one))

    def bound(value, default):
        if value is None:
            return default
        from weft._src.ops import math_ops

        offset = math_ops.cast(value, dtype)
        return _by_sign(
            value,
            lambda: raw.Minimum(x=raw.AddV2(x=starts, y=offset), y=high),
            lambda: raw.Maximum(x=raw.AddV2(x=limits, y=offset), y=low),
        )

    first = bound(key.start, _by_sign(step, lambda: starts, lambda: high))
    last = bound(key.stop, _by_sign(step, lambda: limits, lambda: low))
    made = _of_ranges(first, last, key.step, rt.values)
    if rt.uniform_row_length is None:
        return made
    places = creation_ops.zeros(raw.ExpandDims(input=rt.uniform_row_length, dim=0), dtypes.bool)[key]
    length = raw.Size(input=places, out_type=dtype)
    known = rt._row_partition.static_uniform_row_length
    if known is not None and not any(isinstance(v, Tensor) for v in (key.start, key.stop, key.step)):
        length = convert_to_tensor(len(range(known)[key]), dtype)
    return RaggedTensor._of(made.values, RowPartition._of_splits(made.row_splits, length))


def _of_ranges(starts, limits, step, values):
    """The ragged tensor whose rows are values[start:limit:step]."""
    from weft._src.ops.ragged.gather import gather

    step = convert_to_tensor(1 if step is None else step, name="step")
    if not step.dtype.is_integer:
        raise TypeError("slice strides must be integers or None")
    made = raw.RaggedRange(
        starts=starts, limits=limits, deltas=raw.Cast(x=step, DstT=starts.dtype), Tsplits=starts.dtype
    )
    splits, places = made[0], made[1]
    picked = (
        gather(values, places)
        if isinstance(values, RaggedTensor)
        else raw.GatherV2(params=values, indices=places, axis=0)
    )
    return RaggedTensor._of(picked, RowPartition._of_splits(splits))
