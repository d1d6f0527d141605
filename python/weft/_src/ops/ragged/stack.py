"""concat, stack, tile, expand_dims, squeeze, reverse ... of ragged tensors."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor import Tensor
from weft._src.ops.ragged import checks
from weft._src.ops.ragged.broadcast import same_splits_dtype
from weft._src.ops.ragged.convert import from_tensor, static_int
from weft._src.ops.ragged.gather import gather
from weft._src.ops.ragged.ragged_tensor import RaggedTensor, as_values, count_rows, positive_axis
from weft._src.ops.ragged.row_partition import RowPartition, at, counting, piece


def concat(values, axis):
    return _join(values, axis, False)


def stack(values, axis=0):
    return _join(values, axis, True)


def _join(values, axis, stacked):
    if not isinstance(values, (list, tuple)):
        values = [values]
    hint = next((v.dtype for v in values if isinstance(v, (RaggedTensor, Tensor))), None)
    values = [as_values(v, preferred_dtype=hint) for v in values]
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    rank = next((v.shape.rank for v in values if v.shape.rank is not None), None)
    for v in values:
        v.shape.with_rank(rank)
    bound = rank + 1 if stacked else rank
    axis = positive_axis(axis, bound)
    if stacked and rank == 0:
        return raw.Pack(values=values, axis=0)
    if all(not isinstance(v, RaggedTensor) for v in values) and (axis > 1 or rank == 1 and (axis == 1 or not stacked)):
        return raw.Pack(values=values, axis=axis) if stacked else raw.ConcatV2(values=values, axis=axis)
    if len(values) == 1 and not stacked:
        return values[0]
    values = _same_depth(values, rank, axis)
    if axis == 0:
        joined = _rows(values)
        if not stacked:
            return joined
        counts = raw.Pack(values=[count_rows(v, _splits_dtype(values)) for v in values], axis=0)
        return RaggedTensor.from_row_lengths(joined, counts, validate=False)
    if axis == 1:
        return _columns(values, stacked)
    for other in values[1:]:
        _same_outer(values[0], other, "Inputs must have identical ragged splits")
    return values[0].with_values(_join([v.values for v in values], axis - 1, stacked))


def _same_outer(a, b, message):
    if a.row_splits is not b.row_splits:
        checks.equal(a.row_splits, b.row_splits, message)


def _splits_dtype(values):
    return next((v.row_splits.dtype for v in values if isinstance(v, RaggedTensor)), dtypes.int64)


def _same_depth(values, rank, axis):
    """All ragged to the same depth: as deep as the deepest, or as the axis asks for."""
    same_splits_dtype(values)
    dtype = _splits_dtype(values)
    depth = max((v.ragged_rank for v in values if isinstance(v, RaggedTensor)), default=0)
    depth = max(depth, min(axis, rank - 1))
    if depth == 0 and rank == 1:
        return values
    depth = max(depth, 1)

    def deepen(v):
        if not isinstance(v, RaggedTensor):
            return from_tensor(v, ragged_rank=depth, row_splits_dtype=dtype)
        if v.ragged_rank < depth:
            return v.with_flat_values(
                from_tensor(v.flat_values, ragged_rank=depth - v.ragged_rank, row_splits_dtype=dtype)
            )
        return v

    return [deepen(v) for v in values]


def _rows(values):
    """The rows of all, one after the other."""
    if not isinstance(values[0], RaggedTensor):
        return raw.ConcatV2(values=values, axis=0) if len(values) > 1 else values[0]
    inner = _rows([v.values for v in values])
    splits, offset = [values[0].row_splits], None
    for before, v in zip(values, values[1:]):
        last = at(before.row_splits, -1)
        offset = last if offset is None else raw.AddV2(x=offset, y=last)
        splits.append(raw.AddV2(x=piece(v.row_splits, 1, None), y=offset))
    lengths = {v._row_partition.static_uniform_row_length for v in values}
    splits = raw.ConcatV2(values=splits, axis=0) if len(splits) > 1 else splits[0]
    length = values[0].uniform_row_length if len(lengths) == 1 and None not in lengths else None
    return RaggedTensor._of(inner, RowPartition._of_splits(splits, length))


def _columns(values, stacked):
    """Row i of the result has the rows i of all."""
    dtype, count = _splits_dtype(values), len(values)
    rows = [count_rows(v, dtype) for v in values]
    for i, other in enumerate(rows[1:]):
        checks.equal(rows[0], other, f"Input tensors at index 0 (=x) and {i + 1} (=y) have incompatible shapes.")
    together = _rows(values)
    total = raw.Mul(x=rows[0], y=convert_to_tensor(count, dtype))
    order = raw.Reshape(
        tensor=raw.Transpose(
            x=raw.Reshape(
                tensor=counting(total, dtype), shape=raw.Pack(values=[convert_to_tensor(count, dtype), rows[0]], axis=0)
            ),
            perm=[1, 0],
        ),
        shape=[-1],
    )
    mixed = gather(together, order)
    if stacked:
        lengths = raw.Fill(dims=raw.ExpandDims(input=rows[0], dim=0), value=convert_to_tensor(count, dtype))
        return RaggedTensor.from_row_lengths(mixed, lengths, validate=False)
    splits = raw.StridedSlice(input=mixed.row_splits, begin=[0], end=[0], strides=[count], begin_mask=1, end_mask=1)
    known = values[0].shape[0]
    if known is not None:
        splits.set_shape([known + 1])
    lengths = [v._row_partition.static_uniform_row_length for v in values]
    length = None if None in lengths else convert_to_tensor(sum(lengths), dtype)
    return RaggedTensor._of(mixed.values, RowPartition._of_splits(splits, length))


def tile(value, multiples):
    """The value repeated along its axes."""
    if not isinstance(multiples, Tensor):
        multiples = convert_to_tensor(multiples, value.row_splits.dtype)
    multiples.shape.with_rank(1)
    known = constant_value(multiples)
    counts = multiples if known is None else known.tolist()
    if known is not None and known.size <= value.ragged_rank:
        raise IndexError(f"index {known.size} is out of bounds for axis 0 with size {known.size}")
    return _tile(value, [counts[i] for i in range(value.shape.rank)])


def _tile(value, counts):
    if not isinstance(value, RaggedTensor):
        counts = [
            raw.Cast(x=c, DstT=dtypes.int32) if isinstance(c, Tensor) else convert_to_tensor(int(c)) for c in counts
        ]
        return raw.Tile(input=value, multiples=raw.Pack(values=counts, axis=0))
    dtype = value.row_splits.dtype
    inner = [static_int(c) for c in counts[2:]]
    if any(c != 1 for c in inner):
        value = value.with_values(_tile(value.values, [1, *counts[2:]]))
    if static_int(counts[1]) != 1:
        count = _as(counts[1], dtype)
        n = value.nrows()
        repeated = raw.Reshape(
            tensor=raw.BroadcastTo(
                input=raw.ExpandDims(input=counting(n, dtype), dim=1), shape=raw.Pack(values=[n, count], axis=0)
            ),
            shape=[-1],
        )
        rows = gather(value, repeated)
        splits = RowPartition.from_row_lengths(raw.Mul(x=value.row_lengths(), y=count), validate=False).row_splits()
        length = None if value.uniform_row_length is None else raw.Mul(x=value.uniform_row_length, y=count)
        value = RaggedTensor._of(rows.values, RowPartition._of_splits(splits, length))
    if static_int(counts[0]) != 1:
        order = raw.Tile(
            input=counting(value.nrows(), dtype), multiples=raw.ExpandDims(input=_as(counts[0], dtypes.int32), dim=0)
        )
        times, rows = static_int(counts[0]), value.shape[0]
        value = gather(value, order)
        if times is not None and rows is not None:
            value.row_splits.set_shape([times * rows + 1])
    return value


def _as(value, dtype):
    return (
        raw.Cast(x=value, DstT=dtype)
        if isinstance(value, Tensor) and value.dtype is not dtype
        else convert_to_tensor(value, dtype)
    )


def expand_dims(value, axis):
    """With an axis of size 1 more."""
    rank = value.shape.rank
    axis = positive_axis(axis, None if rank is None else rank + 1, ndims_name="rank(input)")
    if not isinstance(value, RaggedTensor):
        return raw.ExpandDims(input=value, dim=axis)
    if axis == 0:
        return value[None]
    if axis == 1:
        return RaggedTensor._of(
            value,
            RowPartition.from_uniform_row_length(
                1,
                nrows=value.shape[0] if value.shape[0] is not None else value.nrows(),
                validate=False,
                dtype=value.row_splits.dtype,
            ),
        )
    return value.with_values(expand_dims(value.values, axis - 1))


def squeeze(value, axis=None):
    """Without axes of size 1."""
    if not isinstance(value, RaggedTensor):
        return raw.Squeeze(
            input=value, squeeze_dims=[] if axis is None else [axis] if isinstance(axis, int) else list(axis)
        )
    rank = value.shape.rank
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    axes = sorted(positive_axis(a, rank) for a in ([axis] if not isinstance(axis, (list, tuple)) else axis))
    for a in reversed(axes):
        value = _squeeze(value, a)
    return value


def _squeeze(value, axis):
    if not isinstance(value, RaggedTensor):
        return raw.Squeeze(input=value, squeeze_dims=[axis])
    one = convert_to_tensor(1, value.row_splits.dtype)
    if axis == 0:
        checks.true(raw.Equal(x=value.nrows(), y=one), "the given axis (axis = 0) is not squeezable!")
        return value.values
    if axis == 1:
        lengths = value.row_lengths()
        if value._row_partition.static_uniform_row_length != 1:
            checks.true(raw.Equal(x=lengths, y=one), "the given axis (axis = 1) is not squeezable!")
        return value.values
    return value.with_values(_squeeze(value.values, axis - 1))


def reverse(value, axis):
    """Turned around along axes."""
    text = "`axis` must be a list of int or a constant tensorwhen reversing axes in a ragged tensor"
    if isinstance(axis, Tensor):
        axis = constant_value(axis)
        if axis is None:
            raise TypeError(text)
        axis = axis.tolist()
    elif not isinstance(axis, (list, tuple)) or not all(isinstance(a, int) for a in axis):
        raise TypeError(text)
    axes = [positive_axis(a, value.shape.rank, f"axis[{i}]", "rank(tensor)") for i, a in enumerate(axis)]
    around, all_of = slice(None, None, -1), slice(None)
    return value[tuple(around if i in axes else all_of for i in range(max(axes, default=-1) + 1))]
