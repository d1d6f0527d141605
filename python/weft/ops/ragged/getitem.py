"""rt[...]: rows, columns and ranges of ragged tensors."""

from weft._raw import raw
from weft.framework import dtypes
from weft.framework.convert import constant_value, convert_to_tensor
from weft.framework.tensor import EagerTensor, Tensor
from weft.ops.ragged.ragged_tensor import RaggedTensor
from weft.ops.ragged.row_partition import RowPartition, at, counting, piece

_BAD_KEY = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
    "are valid indices, got "
)


def getitem(rt, key):
    keys = list(key) if isinstance(key, tuple) else [key]
    return _outer(rt, _without_ellipsis(keys, rt.shape.rank))


def _without_ellipsis(keys, rank):
    if not any(k is Ellipsis for k in keys):
        return keys
    place = next(i for i, k in enumerate(keys) if k is Ellipsis)
    if any(k is Ellipsis for k in keys[place + 1 :]):
        raise ValueError("Multiple ellipses not supported.")
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    taken = sum(k is not None for k in keys) - 1
    return keys[:place] + [slice(None)] * (rank - taken) + keys[place + 1 :]


def _index(key):
    """An int or a scalar tensor of ints; what else is an error."""
    if isinstance(key, EagerTensor):
        key = key.numpy()
    if isinstance(key, Tensor):
        if key.shape.rank not in (0, None) or key.dtype not in (dtypes.int32, dtypes.int64):
            raise TypeError(_BAD_KEY + repr(key))
        return key
    if isinstance(key, (str, bytes, float, list)) or not hasattr(key, "__index__") or isinstance(key, bool):
        raise TypeError(_BAD_KEY + repr(key))
    return int(key)


def _plain(value):
    return int(value.numpy()) if isinstance(value, EagerTensor) else value


def _outer(rt, keys):
    """Keys for all axes, the first included."""
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[tuple(keys)]
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = _outer(rt, rest)
        if not isinstance(inner, RaggedTensor):
            return raw.ExpandDims(input=inner, dim=0)
        length = inner.shape[0] if inner.shape[0] is not None else inner.nrows()
        dtype = inner.row_splits.dtype
        partition = RowPartition.from_uniform_row_length(length, nrows=1, validate=False, dtype=dtype)
        return RaggedTensor._of(inner, partition)
    if isinstance(key, slice):
        return _inner(_rows(rt, slice(_plain(key.start), _plain(key.stop), _plain(key.step))), rest)
    index = _index(key)
    if isinstance(index, int):
        rows = rt.shape[0]
        if rows is not None and not -rows <= index < rows:
            raise IndexError(f"Row key {index} out of bounds")
        splits = rt.row_splits
        if index < 0:
            first, last = at(piece(splits, None, -1), index), at(splits, index)
        else:
            first, last = at(splits, index), at(splits, index + 1)
    else:
        index = raw.Cast(x=index, DstT=rt.row_splits.dtype) if index.dtype is not rt.row_splits.dtype else index
        index = raw.FloorMod(x=index, y=rt.nrows())
        first = raw.GatherV2(params=rt.row_splits, indices=index, axis=0)
        last = raw.GatherV2(
            params=rt.row_splits, indices=raw.AddV2(x=index, y=convert_to_tensor(1, index.dtype)), axis=0
        )
    row = _range_of(rt.values, first, last)
    if isinstance(row, Tensor) and rt._row_partition.static_uniform_row_length is not None:
        row.set_shape([rt._row_partition.static_uniform_row_length, *row.shape[1:]])
    return _outer(row, rest)


def _range_of(values, first, last):
    """values[first:last]"""
    if not isinstance(values, RaggedTensor):
        begin, end = raw.ExpandDims(input=first, dim=0), raw.ExpandDims(input=last, dim=0)
        return raw.StridedSlice(input=values, begin=begin, end=end, strides=convert_to_tensor([1], begin.dtype))
    splits = raw.StridedSlice(
        input=values.row_splits,
        begin=raw.ExpandDims(input=first, dim=0),
        end=raw.ExpandDims(input=raw.AddV2(x=last, y=convert_to_tensor(1, last.dtype)), dim=0),
        strides=convert_to_tensor([1], first.dtype),
    )
    start = at(splits, 0)
    inner = _range_of(values.values, start, at(splits, -1))
    return RaggedTensor._of(inner, RowPartition._of_splits(raw.Sub(x=splits, y=start), values.uniform_row_length))


def _rows(rt, key):
    """rt[key] for a slice of rows."""
    if key == slice(None):
        return rt
    rows = rt.shape[0]
    if (
        rows is not None
        and key.step in (None, 1)
        and not isinstance(key.start, Tensor)
        and not isinstance(key.stop, Tensor)
    ):
        first, last, _ = key.indices(rows)
        dtype = rt.row_splits.dtype
        return _range_of(rt, convert_to_tensor(first, dtype), convert_to_tensor(max(first, last), dtype))
    from weft.ops.ragged.gather import gather

    picked = counting(rt.nrows(), rt.row_splits.dtype)[key]
    return gather(rt, picked)


def _inner(rt, keys):
    """Keys for the axes behind the first."""
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[(slice(None), *keys)]
    key, rest = keys[0], keys[1:]
    if key is None:
        below = _inner(rt, rest)
        return RaggedTensor._of(
            below, RowPartition.from_uniform_row_length(1, nrows=rt.nrows(), validate=False, dtype=rt.row_splits.dtype)
        )
    if isinstance(key, slice):
        key = slice(_plain(key.start), _plain(key.stop), _plain(key.step))
        if key == slice(None):
            return rt.with_values(_inner(rt.values, rest))
        cut = _columns(rt, key)
        return cut.with_values(_inner(cut.values, rest))
    index = _index(key)
    if rt.uniform_row_length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    from weft.ops.ragged.gather import gather

    length = rt._row_partition.static_uniform_row_length
    if isinstance(index, int):
        if length is not None and not -length <= index < length:
            raise IndexError(f"Column index {index} out of bounds")
        at_end = index < 0
        places = raw.AddV2(
            x=rt.row_limits() if at_end else rt.row_starts(), y=convert_to_tensor(index, rt.row_splits.dtype)
        )
    else:
        places = raw.AddV2(x=rt.row_starts(), y=raw.Cast(x=index, DstT=rt.row_splits.dtype))
    return _inner(gather(rt.values, places), rest)


def _columns(rt, key):
    """rt[:, key] for a slice of a ragged dimension: the slice of each row."""
    from weft.ops.ragged.gather import gather

    dtype = rt.row_splits.dtype
    lengths, starts = rt.row_lengths(), rt.row_starts()
    step = 1 if key.step is None else key.step
    if not isinstance(step, int):
        step = _static_step(step)
    if step == 0:
        raise ValueError("slice step cannot be zero")

    def bound(value, default):
        """The place in each row, from its start; rows are as long as they are."""
        if value is None:
            return default
        value = convert_to_tensor(value, dtype) if not isinstance(value, Tensor) else raw.Cast(x=value, DstT=dtype)
        low, high = (0, lengths) if step > 0 else (-1, raw.Sub(x=lengths, y=convert_to_tensor(1, dtype)))
        from_end = raw.AddV2(x=lengths, y=value)
        counted = raw.SelectV2(
            condition=raw.Less(x=value, y=convert_to_tensor(0, dtype)), t=from_end, e=raw.ZerosLike(x=lengths) + value
        )
        return raw.Minimum(x=raw.Maximum(x=counted, y=convert_to_tensor(low, dtype)), y=high)

    zero = raw.ZerosLike(x=lengths)
    one = convert_to_tensor(1, dtype)
    if step > 0:
        first, last = bound(key.start, zero), bound(key.stop, lengths)
    else:
        first, last = bound(key.start, raw.Sub(x=lengths, y=one)), bound(key.stop, raw.Sub(x=zero, y=one))
    last = raw.Maximum(x=last, y=first) if step > 0 else raw.Minimum(x=last, y=first)
    made = raw.RaggedRange(
        starts=raw.AddV2(x=starts, y=first),
        limits=raw.AddV2(x=starts, y=last),
        deltas=convert_to_tensor(step, dtype),
        Tsplits=dtype,
    )
    length = rt._row_partition.static_uniform_row_length
    if length is not None and all(v is None or isinstance(v, int) for v in (key.start, key.stop)):
        length = convert_to_tensor(len(range(*key.indices(length))), dtype)
    else:
        length = None
    return RaggedTensor._of(gather(rt.values, made[1]), RowPartition._of_splits(made[0], length))


def _static_step(step):
    found = constant_value(step)
    if found is None:
        raise NotImplementedError("a slice of a ragged dimension with a step that is not known before the graph runs")
    return int(found)
