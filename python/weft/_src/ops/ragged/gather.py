"""tf.gather and tf.gather_nd where the values or the indices are ragged."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.ops import creation_ops
from weft._src.ops.ragged.ragged_tensor import RaggedTensor, as_values, positive_axis
from weft._src.ops.ragged.row_partition import RowPartition


def _pair(params, indices):
    from weft._src.ops.ragged.broadcast import same_splits_dtype

    params, indices = as_values(params, name="params"), as_values(indices, name="indices")
    same_splits_dtype((params, indices))
    return params, indices


def gather(params, indices, axis=None, batch_dims=0):
    """The rows (or slices along an axis) that indices name."""
    params, indices = _pair(params, indices)
    if batch_dims != indices.shape.rank:
        batch_dims = positive_axis(batch_dims, indices.shape.rank, "batch_dims", "rank(indices)")
    if params.shape.rank is not None and batch_dims >= params.shape.rank:
        raise ValueError("batch_dims must be less than rank(params)")
    axis = positive_axis(batch_dims if axis is None else axis, params.shape.rank, ndims_name="rank(params)")
    if axis < batch_dims:
        raise ValueError("axis must be greater than or equal to batch_dims")
    if indices.shape.rank is not None and not 0 <= batch_dims <= indices.shape.rank:
        raise ValueError(f"batch_dims={batch_dims} must be between 0 and rank(indices)={indices.shape.rank}")
    return _gather(params, indices, axis, batch_dims)


def _gather(params, indices, axis=0, batch_dims=0):
    ragged_params, ragged_indices = isinstance(params, RaggedTensor), isinstance(indices, RaggedTensor)
    if not ragged_params and not ragged_indices:
        return raw.GatherV2(params=params, indices=indices, axis=axis, batch_dims=batch_dims)
    if batch_dims:
        return _batched(params, indices, axis, batch_dims)
    if axis:
        return _along(params, indices, axis)
    if ragged_indices:
        return indices.with_values(_gather(params, indices.values))
    rank = indices.shape.rank
    if rank is None:
        raise ValueError("rank(indices) must be known statically")
    made = raw.RaggedGather(
        params_nested_splits=list(params.nested_row_splits),
        params_dense_values=params.flat_values,
        indices=indices,
        OUTPUT_RAGGED_RANK=rank + params.ragged_rank - 1,
    )
    if rank == 0:
        return _of_splits(made[1], made[0], [])
    dtype = params.row_splits.dtype
    sizes = raw.Shape(input=indices, out_type=dtype) if rank > 1 else None
    known = indices.shape[1:].as_list()
    uniform = [convert_to_tensor(n, dtype) if n is not None else sizes[i + 1] for i, n in enumerate(known)]
    return _of_splits(made[1], made[0], uniform)


def _of_splits(values, nested, uniform):
    """Of row splits; the outermost rows may be of lengths that are known."""
    lengths = uniform + [None] * (len(nested) - len(uniform))
    for splits, length in zip(reversed(nested), reversed(lengths)):
        values = RaggedTensor._of(values, RowPartition._of_splits(splits, length))
    return values


def _rows_of(value, dtype):
    from weft._src.ops.ragged.convert import from_tensor

    return value if isinstance(value, RaggedTensor) else from_tensor(value, ragged_rank=1, row_splits_dtype=dtype)


def _batched(params, indices, axis, batch_dims):
    """Gathers in each item of a batch: indices are moved to where the item is in the joined batch."""
    if not params.shape[:batch_dims].is_compatible_with(indices.shape[:batch_dims]):
        raise ValueError(
            f"batch shape from indices {indices.shape[:batch_dims]} does not match params shape {params.shape}"
        )
    if batch_dims > 1:
        for one, other, names in (
            (params, indices, "indices uniform params"),
            (indices, params, "params uniform indices"),
        ):
            if not isinstance(one, RaggedTensor) and other.uniform_row_length is None:
                first, kind, second = names.split()
                raise ValueError(
                    "batch shape from indices does not match params shape: "
                    f"ragged {first} dimension corresponds to {kind} {second} dimension"
                )
        dtype = (params if isinstance(params, RaggedTensor) else indices).row_splits.dtype
        params, indices = _rows_of(params, dtype), _rows_of(indices, dtype)
        return params.with_values(_gather(params.values, indices.values, axis - 1, batch_dims - 1))
    if axis > 1:
        # The same indices for each row of an item.
        if isinstance(indices, RaggedTensor):
            params = _rows_of(params, indices.row_splits.dtype)
            indices = _gather(indices, params.with_values(params.value_rowids()))
        else:
            indices = params.with_values(raw.GatherV2(params=indices, indices=params.value_rowids(), axis=0))
        return _batched(params, indices, axis, batch_dims + 1)
    return _moved(params, indices, indices.shape.rank)


def _along(params, indices, axis):
    """The same indices in every row."""
    if axis > 1:
        params = params if isinstance(params, RaggedTensor) else _rows_of(params, indices.row_splits.dtype)
        return params.with_values(_gather(params.values, indices, axis - 1))
    return _moved(params, indices, None if indices.shape.rank is None else indices.shape.rank + 1)


def _moved(params, indices, rank):
    """The gather in the rows of all items joined; each item's indices are moved to where it begins."""
    if rank is None:
        raise ValueError("rank(indices) must be known statically")
    if isinstance(params, RaggedTensor):
        rows, starts = params.values, raw.Cast(x=params.row_starts(), DstT=indices.dtype)
    else:
        sizes = raw.Shape(input=params, out_type=indices.dtype)
        starts = creation_ops.range(sizes[0]) * sizes[1]
        shape = raw.ConcatV2(values=[convert_to_tensor([-1], indices.dtype), sizes[2:]], axis=0)
        rows = raw.Reshape(tensor=params, shape=shape)
    count = raw.Shape(input=starts, out_type=dtypes.int32)
    starts = (
        raw.Reshape(tensor=starts, shape=raw.ConcatV2(values=[count, [1] * (rank - 1)], axis=0)) if rank > 1 else starts
    )
    return _gather(rows, indices + starts)


def gather_nd(params, indices, batch_dims=0, bad_indices_policy=""):
    """The items that the rows of indices lead to."""
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    if bad_indices_policy not in ("", "DEFAULT"):
        raise ValueError("non-default bad_indices_policy not supported for ragged gather")
    params, indices = _pair(params, indices)
    if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
        return raw.GatherNd(params=params, indices=indices)
    rank = indices.shape.rank
    if rank is None:
        raise ValueError("indices.rank be statically known.")
    if rank == 0:
        raise ValueError("indices.rank must be at least 1.")
    if isinstance(indices, RaggedTensor) and rank == indices.ragged_rank + 1:
        raise ValueError("The innermost dimension of indices may not be ragged")
    depth = indices.shape[-1]
    if depth is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    if rank > 2:
        return _nested_nd(params, indices, rank)
    if depth == 0:
        return _whole(params, indices, rank)
    if depth == 1:
        return gather(params, raw.Reshape(tensor=indices, shape=[-1]))
    indices = raw.Cast(x=indices, DstT=params.row_splits.dtype)
    place = raw.GatherV2(params=params.row_splits, indices=indices[..., 0], axis=0) + indices[..., 1]
    values = params.values
    for i in range(2, depth):
        if not isinstance(values, RaggedTensor):
            place = raw.ConcatV2(values=[raw.ExpandDims(input=place, dim=1), indices[..., i:]], axis=1)
            return raw.GatherNd(params=values, indices=place)
        place = raw.GatherV2(params=values.row_starts(), indices=place, axis=0) + indices[..., i]
        values = values.values
    return gather(values, place)


def _nested_nd(params, indices, rank):
    """Indices of more than two dimensions: as a list of those of two."""
    from weft._src.ops.ragged.convert import from_tensor, to_tensor

    dense = not isinstance(indices, RaggedTensor)
    if dense:
        indices = from_tensor(indices, ragged_rank=rank - 2, row_splits_dtype=params.row_splits.dtype)
    result = indices.with_flat_values(gather_nd(params, indices.flat_values))
    if dense and isinstance(result, RaggedTensor) and result.ragged_rank == rank - 2:
        return to_tensor(result)
    return result


def _whole(params, indices, rank):
    """Indices without a part name the whole value, as often as there are of them."""
    from weft._src.ops.ragged.stack import expand_dims, tile

    dimensions = params.ragged_rank + params.flat_values.shape.rank
    for _ in range(rank - 1):
        params = expand_dims(params, 0)
    times = raw.Shape(input=indices, out_type=dtypes.int32)[:-1]
    return tile(params, raw.ConcatV2(values=[times, [1] * dimensions], axis=0))
