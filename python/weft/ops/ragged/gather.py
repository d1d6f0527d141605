"""tf.gather and tf.gather_nd where the values or the indices are ragged."""

from weft._raw import raw
from weft.framework import dtypes
from weft.framework.convert import convert_to_tensor
from weft.framework.tensor import Tensor
from weft.ops.ragged.ragged_tensor import RaggedTensor, as_values, positive_axis
from weft.ops.ragged.row_partition import RowPartition


def gather(params, indices, axis=0, batch_dims=0):
    """The rows (or slices along an axis) that indices name."""
    params, indices = as_values(params), as_values(indices)
    if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
        return raw.GatherV2(params=params, indices=indices, axis=axis, batch_dims=batch_dims)
    if isinstance(batch_dims, Tensor):
        batch_dims = int(batch_dims)
    if batch_dims < 0:
        batch_dims += indices.shape.rank
    axis = batch_dims if axis is None else positive_axis(axis, params.shape.rank)
    if batch_dims > axis:
        raise ValueError(f"batch_dims={batch_dims} must be less than or equal to axis={axis}")
    if batch_dims:
        return _batched(params, indices, axis, batch_dims)
    if axis:
        return _along(params, indices, axis)
    if isinstance(indices, RaggedTensor):
        return indices.with_values(gather(params, indices.values))
    rank = indices.shape.rank
    if rank is None:
        raise ValueError("rank(indices) must be known statically")
    if indices.dtype not in (dtypes.int32, dtypes.int64):
        indices = raw.Cast(x=indices, DstT=dtypes.int64)
    if rank == 0:
        return gather(params, raw.ExpandDims(input=indices, dim=0))[0]
    made = raw.RaggedGather(
        params_nested_splits=list(params.nested_row_splits),
        params_dense_values=params.flat_values,
        indices=indices,
        OUTPUT_RAGGED_RANK=rank + params.ragged_rank - 1,
    )
    result = made[1]
    # Of a vector of indices, dimensions that were uniform stay so.
    uniform = [None] * (rank - 1) + [p.uniform_row_length() for p in params._nested_row_partitions]
    for i, size in enumerate(indices.shape[1:]):
        uniform[i] = None if size is None else convert_to_tensor(size, params.row_splits.dtype)
    for splits, length in zip(reversed(made[0]), reversed(uniform)):
        result = RaggedTensor._of(result, RowPartition._of_splits(splits, length))
    if indices.shape[0] is not None:
        result.row_splits.set_shape([indices.shape[0] + 1])
    return result


def _as_ragged(value, ragged_rank=1):
    from weft.ops.ragged.convert import from_tensor

    return value if isinstance(value, RaggedTensor) else from_tensor(value, ragged_rank=ragged_rank)


def _batched(params, indices, axis, batch_dims):
    """Gathers in each item of a batch: indices are moved to where the item is in the joined batch."""
    if batch_dims > 1:
        rows = _as_ragged(params) if not isinstance(params, RaggedTensor) else params
        places = _as_ragged(indices)
        return places.with_values(gather(rows.values, places.values, axis - 1, batch_dims - 1))
    if axis > 1:
        raise NotImplementedError("gather in a ragged batch along an axis behind the first of the items")
    rows = _as_ragged(params)
    dense = not isinstance(indices, RaggedTensor)
    if dense and indices.shape.rank == 1:
        places = raw.AddV2(x=raw.Cast(x=indices, DstT=rows.row_splits.dtype), y=rows.row_starts())
        return gather(rows.values, places)
    places = _as_ragged(indices)
    starts = raw.GatherV2(params=rows.row_starts(), indices=places.value_rowids(), axis=0)
    flat = places.values
    inner = raw.Cast(x=flat.flat_values if isinstance(flat, RaggedTensor) else flat, DstT=rows.row_splits.dtype)
    if isinstance(flat, RaggedTensor):
        for ids in flat.nested_value_rowids():
            starts = raw.GatherV2(params=starts, indices=ids, axis=0)
    moved = raw.AddV2(x=inner, y=raw.Reshape(tensor=starts, shape=[-1, *[1] * (inner.shape.rank - 1)]))
    flat = flat.with_flat_values(moved) if isinstance(flat, RaggedTensor) else moved
    result = places.with_values(gather(rows.values, flat))
    if dense and not isinstance(result.values, RaggedTensor):
        shape = raw.ConcatV2(
            values=[
                raw.Shape(input=indices, out_type=dtypes.int32),
                raw.Shape(input=result.values, out_type=dtypes.int32)[indices.shape.rank - 1 :],
            ],
            axis=0,
        )
        return raw.Reshape(tensor=result.values, shape=shape)
    return result


def _along(params, indices, axis):
    """The same indices in every row: the batch of gathers of one axis less."""
    if axis > 1:
        return (
            params.with_values(_along(params.values, indices, axis - 1))
            if isinstance(params.values, RaggedTensor)
            else params.with_values(raw.GatherV2(params=params.values, indices=indices, axis=axis - 1))
        )
    from weft.ops.ragged.stack import tile

    rows = _as_ragged(params)
    count = rows.nrows()
    if isinstance(indices, RaggedTensor):
        repeated = tile(_as_batch(indices), [count, *[1] * indices.shape.rank])
    else:
        repeated = raw.Tile(
            input=raw.ExpandDims(input=indices, dim=0),
            multiples=raw.Pack(values=[raw.Cast(x=count, DstT=dtypes.int32), *[1] * indices.shape.rank], axis=0),
        )
    return _batched(rows, repeated, 1, 1)


def _as_batch(value):
    return value[None]


def gather_nd(params, indices, batch_dims=0):
    """The items that the rows of indices lead to."""
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    params, indices = as_values(params), as_values(indices)
    if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
        return raw.GatherNd(params=params, indices=indices)
    if isinstance(indices, RaggedTensor):
        if not isinstance(indices.values, RaggedTensor) and indices.values.shape.rank == 1:
            raise ValueError("The innermost dimension of indices may not be ragged")
        return indices.with_values(gather_nd(params, indices.values))
    depth = indices.shape[-1] if indices.shape.rank else None
    if depth is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    if indices.shape.rank > 2:
        from weft.ops.ragged.convert import from_tensor

        nested = from_tensor(indices, ragged_rank=indices.shape.rank - 2)
        return gather_nd(params, nested)
    if indices.shape.rank == 1:
        return gather_nd(params, raw.ExpandDims(input=indices, dim=0))[0]
    if depth == 0:
        raise NotImplementedError("gather_nd of a ragged tensor with indices of no axes")
    dtype = params.row_splits.dtype
    columns = [raw.Cast(x=c, DstT=dtype) for c in raw.Unpack(value=indices, num=depth, axis=1)]
    place, values = columns[0], params
    while len(columns) > 1 and isinstance(values, RaggedTensor):
        place = raw.AddV2(x=raw.GatherV2(params=values.row_starts(), indices=place, axis=0), y=columns[1])
        values, columns = values.values, columns[1:]
    if len(columns) > 1:
        return raw.GatherNd(params=values, indices=raw.Pack(values=[place, *columns[1:]], axis=1))
    return gather(values, place)
