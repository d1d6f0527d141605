"""tf.ragged.constant, range and others that make ragged tensors."""

from builtins import range as _count

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant as dense_constant
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.tensor import Tensor
from weft._src.ops.ragged import checks
from weft._src.ops.ragged.ragged_tensor import RaggedTensor, as_values, is_ragged
from weft._src.ops.ragged.row_partition import RowPartition, as_partition_tensor, rowids_of_splits


@dispatchable
def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=dtypes.int64):
    """A constant ragged tensor of nested lists."""
    row_splits_dtype = dtypes.as_dtype(row_splits_dtype)

    def ragged(values, splits):
        splits = as_partition_tensor(splits, "row_splits", row_splits_dtype)
        return RaggedTensor._of(values, RowPartition._of_splits(splits))

    def inner(values, shape):
        return dense_constant(values, dtype, shape) if shape else dense_constant(values, dtype)

    return _build(ragged, inner, pylist, ragged_rank, inner_shape)


def constant_value(pylist, dtype=None, ragged_rank=None, inner_shape=None, row_splits_dtype="int64"):
    """As constant, with numpy arrays (tf.compat.v1.ragged.constant_value)."""
    import numpy as np

    from weft._src.ops.ragged.ragged_tensor import RaggedTensorValue

    def inner(values, shape):
        array = np.array(values, dtype.as_numpy_dtype if isinstance(dtype, dtypes.DType) else dtype)
        return array.reshape(shape) if shape else array

    return _build(
        lambda values, splits: RaggedTensorValue(values, np.array(splits, str(row_splits_dtype))),
        inner,
        pylist,
        ragged_rank,
        inner_shape,
    )


def _is_list(value):
    import numpy as np

    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _build(ragged, inner, pylist, ragged_rank, inner_shape):
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid value for ragged_rank: must be nonnegative, got {ragged_rank}")
    if hasattr(pylist, "ndim") and not isinstance(pylist, Tensor):
        pylist = pylist.tolist()
    if not _is_list(pylist):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner_shape is not None and len(inner_shape):
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}")
        return inner(pylist, ())
    scalars, deepest = _depths(pylist)
    if scalars is not None and deepest > scalars:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    if ragged_rank is not None and scalars is not None and ragged_rank >= scalars:
        raise ValueError(
            f"Invalid pylist={pylist}, max depth smaller than ragged_rank={ragged_rank}"
            if deepest < ragged_rank
            else f"pylist has scalar values depth {scalars}, but ragged_rank={ragged_rank} requires scalar value depth greater than {ragged_rank}"
        )
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + len(inner_shape) + 1
        if (scalars is not None and expected != scalars) or (scalars is None and expected < deepest):
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={len(inner_shape)}"
            )
    if ragged_rank == 0:
        return inner(pylist, inner_shape if inner_shape is None else (len(pylist), *inner_shape))
    if inner_shape is None:
        inner_shape = () if ragged_rank is None else _inner_shape(pylist, ragged_rank)
    if ragged_rank is None:
        ragged_rank = max(1, deepest - 1) if scalars is None else max(1, scalars - 1 - len(inner_shape))
        if scalars == 1 or (scalars is None and deepest == 1):
            return inner(pylist, None if not inner_shape else (len(pylist), *inner_shape))
    all_splits, values = [], pylist
    for _ in _count(ragged_rank):
        if values and not _is_list(values[0]):
            raise ValueError(
                f"pylist has scalar values depth {scalars}, but ragged_rank={ragged_rank} requires scalar "
                f"value depth greater than {ragged_rank}"
            )
        splits = [0]
        for row in values:
            splits.append(splits[-1] + len(row))
        all_splits.append(splits)
        values = [item for row in values for item in row]
    if scalars is not None and scalars < ragged_rank + 1:
        raise ValueError(
            f"pylist has scalar values depth {scalars}, but ragged_rank={ragged_rank} requires scalar "
            f"value depth greater than {ragged_rank}"
        )
    result = inner(values, (len(values), *inner_shape) if inner_shape else None if values else (0,))
    for splits in reversed(all_splits):
        result = ragged(result, splits)
    return result


def _depths(value):
    """How deep scalars are (None: there are none), and how deep the lists go."""
    if not _is_list(value):
        return 0, 0
    if not len(value):
        return None, 1
    depth, deepest = None, 0
    for item in value:
        scalars, lists = _depths(item)
        deepest = max(deepest, lists)
        if scalars is not None:
            if depth is not None and depth != scalars:
                raise ValueError("all scalar values must have the same nesting depth")
            depth = scalars
    return None if depth is None else depth + 1, deepest + 1


def _inner_shape(value, ragged_rank):
    """The shape of what is inside of the ragged dimensions, which must be the same everywhere."""
    rows = value
    for _ in _count(ragged_rank):
        rows = [item for row in rows for item in row]
    shape = []
    while rows and _is_list(rows[0]):
        if any(not _is_list(r) or len(r) != len(rows[0]) for r in rows):
            raise ValueError("inner values have inconsistent shape")
        shape.append(len(rows[0]))
        rows = [item for row in rows for item in row]
    if any(_is_list(r) for r in rows):
        raise ValueError("inner values have inconsistent shape")
    return tuple(shape)


@dispatchable
def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64):
    """Rows of numbers: from each start to its limit."""
    if limits is None:
        starts, limits = 0, starts
    if dtype is None:
        given = [convert_to_tensor(v) for v in (starts, limits, deltas)]
        for dtype in (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64):
            if all(dtype._type_enum == v.dtype._type_enum or _RANKS.get(v.dtype, 9) <= _RANKS[dtype] for v in given):
                break
        given = [v if v.dtype is dtype else raw.Cast(x=v, DstT=dtype) for v in given]
    else:
        dtype = dtypes.as_dtype(dtype)
        given = [
            raw.Cast(x=v, DstT=dtype) if isinstance(v, Tensor) and v.dtype is not dtype else convert_to_tensor(v, dtype)
            for v in (starts, limits, deltas)
        ]
    made = raw.RaggedRange(starts=given[0], limits=given[1], deltas=given[2], Tsplits=row_splits_dtype, name=name)
    return RaggedTensor.from_row_splits(made[1], made[0], validate=False)


_RANKS = {dtypes.int32: 0, dtypes.int64: 1, dtypes.float32: 2, dtypes.float64: 3}


@dispatchable
def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """For each value, the row that it is in."""
    splits = as_partition_tensor(splits, "splits")
    splits.shape.assert_has_rank(1)
    if splits.shape[0] == 0:
        raise ValueError("Invalid row_splits: []")
    ids = rowids_of_splits(splits)
    return ids if out_type is None else raw.Cast(x=ids, DstT=dtypes.as_dtype(out_type))


@dispatchable
def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """Where the rows end, of the row of each value."""
    ids = as_partition_tensor(segment_ids, "segment_ids")
    ids.shape.assert_has_rank(1)
    out_type = ids.dtype if out_type is None else dtypes.as_dtype(out_type)
    from weft._src.ops.reduction_ops import bincount

    lengths = bincount(ids, minlength=num_segments, maxlength=num_segments, dtype=out_type)
    none = raw.Cast(x=[0], DstT=out_type)
    return raw.ConcatV2(values=[none, raw.Cumsum(x=lengths, axis=0)], axis=0)


@dispatchable
def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """The data by partition: row i has what has i in partitions."""
    data, partitions = as_values(data), as_values(partitions)
    count = (
        convert_to_tensor(num_partitions, dtypes.int64)
        if not isinstance(num_partitions, Tensor)
        else raw.Cast(x=num_partitions, DstT=dtypes.int64)
    )
    if isinstance(partitions, RaggedTensor):
        if not isinstance(data, RaggedTensor):
            partitions.shape.assert_is_compatible_with(data.shape[: partitions.shape.rank])
        return stack_dynamic_partitions(data.values, partitions.values, num_partitions)
    if partitions.shape.rank is None:
        raise ValueError("partitions must have known rank.")
    partitions.shape.assert_is_compatible_with(data.shape[: partitions.shape.rank])
    if partitions.shape.rank == 0:
        return RaggedTensor.from_value_rowids(
            raw.Pack(values=[data], axis=0), raw.Pack(values=[partitions], axis=0), count, validate=False
        )
    if partitions.shape.rank > 1:
        from weft._src.ops.ragged.convert import merge_dims

        return stack_dynamic_partitions(
            merge_dims(data, 0, partitions.shape.rank - 1), raw.Reshape(tensor=partitions, shape=[-1]), num_partitions
        )
    from weft._src.ops import check_ops, sort_ops
    from weft._src.ops.ragged.gather import gather

    order = sort_ops.argsort(partitions, stable=True)
    sorted_partitions = raw.GatherV2(params=partitions, indices=order, axis=0)
    last = raw.Cast(x=sorted_partitions[-1:], DstT=count.dtype)
    check_ops.assert_less(last, count, message="partitions must be less than num_partitions")
    return RaggedTensor.from_value_rowids(
        gather(data, order), raw.Cast(x=sorted_partitions, DstT=dtypes.int64), count, validate=False
    )


@dispatchable
def boolean_mask(data, mask, name=None):
    """What of the data the mask lets stand, in rows as they were."""
    from weft._src.ops import array_ops, creation_ops, reduction_ops
    from weft._src.ops.ragged.broadcast import same_splits_dtype
    from weft._src.ops.ragged.convert import from_tensor

    data, mask = as_values(data, name="data"), as_values(mask, dtypes.bool, name="mask")
    same_splits_dtype((data, mask))
    dtype = next((v.row_splits.dtype for v in (data, mask) if isinstance(v, RaggedTensor)), dtypes.int64)
    rank = mask.shape.rank
    if rank is None:
        raise ValueError("mask.shape.ndims must be known statically.")
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    if isinstance(mask, RaggedTensor):
        if not isinstance(data, RaggedTensor):
            data = from_tensor(data, ragged_rank=mask.ragged_rank, row_splits_dtype=mask.row_splits.dtype)
        for p, q in zip(mask.nested_row_splits, data.nested_row_splits):
            if p is not q:
                checks.equal(p, q, "Inputs must have identical ragged splits")
        inner = boolean_mask(data.values, mask.values)
        if rank > 2:
            return RaggedTensor._of(inner, RowPartition._of_splits(mask.row_splits))
        kept = raw.UnsortedSegmentSum(
            data=raw.Cast(x=mask.values, DstT=dtype), segment_ids=mask.value_rowids(), num_segments=mask.nrows()
        )
        return RaggedTensor.from_row_lengths(inner, kept, validate=False)
    if isinstance(data, RaggedTensor):
        if rank > 1:
            depth = min(data.ragged_rank, rank - 1)
            return boolean_mask(data, from_tensor(mask, ragged_rank=depth, row_splits_dtype=dtype))
        lengths = array_ops.boolean_mask(data.row_lengths(), mask)
        inner = boolean_mask(data.values, raw.GatherV2(params=mask, indices=data.value_rowids(), axis=0))
        return RaggedTensor.from_row_lengths(inner, lengths, validate=False)
    values = array_ops.boolean_mask(data, mask)
    if rank == 1:
        return values
    kept = reduction_ops.reduce_sum(raw.Cast(x=mask, DstT=dtype), -1)
    values = RaggedTensor.from_row_lengths(values, raw.Reshape(tensor=kept, shape=[-1]), validate=False)
    sizes = raw.Shape(input=mask, out_type=dtype)
    for i in _count(rank - 3, -1, -1):
        rows = raw.Prod(input=sizes[: i + 1], reduction_indices=0)
        splits = creation_ops.range(rows + 1) * sizes[i + 1]
        values = RaggedTensor._of(values, RowPartition._of_splits(splits))
    return values


@dispatchable
def cross(inputs, name=None):
    """Every combination of the items of rows, as text."""
    return _cross(inputs, False, 0, None, name)


@dispatchable
def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """Every combination of the items of rows, as hashes."""
    return _cross(inputs, True, num_buckets, hash_key, name)


_DEFAULT_KEY = 0xDECAFCAFFE


def _cross(inputs, hashed, num_buckets, hash_key, name):
    from weft._src.ops.ragged.convert import from_tensor
    from weft._src.ops.sparse_tensor import SparseTensor

    if isinstance(inputs, RaggedTensor):
        raise TypeError("Inputs must be a list")
    ragged, sparse, dense, order = [], [], [], ""
    for item in inputs:
        if is_ragged(item):
            ragged.append(as_values(item))
            order += "R"
        elif isinstance(item, SparseTensor):
            sparse.append(item)
            order += "S"
        else:
            dense.append(convert_to_tensor(item))
            order += "D"

    def typed(t):
        return raw.Cast(x=t, DstT=dtypes.int64) if t.dtype.is_integer and t.dtype is not dtypes.int64 else t

    out_dtype = dtypes.int64 if hashed else dtypes.string
    made = raw.RaggedCross(
        ragged_values=[typed(r.flat_values) for r in ragged],
        ragged_row_splits=[r.row_splits for r in ragged],
        sparse_indices=[s.indices for s in sparse],
        sparse_values=[typed(s.values) for s in sparse],
        sparse_shape=[s.dense_shape for s in sparse],
        dense_inputs=[typed(d) for d in dense],
        input_order=order,
        hashed_output=hashed,
        num_buckets=num_buckets,
        hash_key=_DEFAULT_KEY if hash_key is None else hash_key,
        out_values_type=out_dtype,
        out_row_splits_type=ragged[0].row_splits.dtype if ragged else dtypes.int64,
        name=name,
    )
    return RaggedTensor.from_row_splits(made[0], made[1], validate=False)


@dispatchable
def stack(values, axis=0, name=None):
    from weft._src.ops.ragged.stack import stack as ragged_stack

    return ragged_stack(values, axis)


__all__ = [
    "boolean_mask",
    "constant",
    "cross",
    "cross_hashed",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
    "stack_dynamic_partitions",
]
