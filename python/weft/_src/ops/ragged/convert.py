"""Ragged tensors to and from dense and sparse ones; merging of dimensions."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape, as_shape
from weft._src.ops.ragged import checks
from weft._src.ops.ragged.ragged_tensor import RaggedTensor, count_rows
from weft._src.ops.ragged.row_partition import RowPartition, at, counting, piece


def to_tensor(rt, default_value=None, shape=None, name=None):
    """A dense tensor, filled up with default_value."""
    dtype = rt.dtype
    if default_value is not None:
        default_value = convert_to_tensor(default_value, dtype)
    else:
        default_value = convert_to_tensor("" if dtype is dtypes.string else False if dtype is dtypes.bool else 0, dtype)
    static = as_shape(shape) if not isinstance(shape, Tensor) else TensorShape(None)
    known = rt.shape
    if isinstance(shape, Tensor):
        wanted = shape
    else:
        merged = (
            known
            if static.rank is None
            else (
                TensorShape([b if a is None else a for a, b in zip(static, known)])
                if known.rank == static.rank
                else static
            )
        )
        wanted = -1 if static.rank is None else [-1 if d is None else d for d in static]
        wanted = convert_to_tensor(wanted, dtypes.int64)
    made = raw.RaggedTensorToTensor(
        shape=wanted,
        values=rt.flat_values,
        default_value=default_value,
        row_partition_tensors=list(rt.nested_row_splits),
        row_partition_types=["ROW_SPLITS"] * rt.ragged_rank,
        name=name,
    )
    if not isinstance(shape, Tensor) and merged.rank is not None:
        made.set_shape(merged)
    return made


def to_sparse(rt, name=None):
    from weft._src.ops.sparse_tensor import SparseTensor

    made = raw.RaggedTensorToSparse(
        rt_nested_splits=list(rt.nested_row_splits), rt_dense_values=rt.flat_values, name=name
    )
    return SparseTensor(made[0], made[1], made[2])


def from_sparse(st_input, row_splits_dtype=dtypes.int64):
    from weft._src.ops.sparse_tensor import SparseTensor, SparseTensorValue

    row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
    if not isinstance(st_input, (SparseTensor, SparseTensorValue)):
        raise TypeError(f"Argument `st_input` must be of type SparseTensor, but is of type {type(st_input).__name__}.")
    st_input = SparseTensor.from_value(st_input)
    ranks = st_input.dense_shape.shape, st_input.indices.shape[1:]
    if not any(r.rank is not None and r[0] == 2 for r in ranks):
        raise ValueError("rank(st_input) must be 2.")
    rows = raw.StridedSlice(
        input=st_input.indices, begin=[0, 0], end=[0, 1], strides=[1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
    )
    columns = raw.StridedSlice(
        input=st_input.indices, begin=[0, 1], end=[0, 2], strides=[1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
    )
    rowids = raw.Cast(x=rows, DstT=row_splits_dtype) if row_splits_dtype is not dtypes.int64 else rows
    partition = RowPartition.from_value_rowids(rowids, at(st_input.dense_shape, 0), validate=False)
    same = raw.Equal(x=partition.offsets_in_rows(), y=raw.Cast(x=columns, DstT=row_splits_dtype))
    checks.true(same, "SparseTensor is not right-ragged", "SparseTensor.indices =", st_input.indices)
    return RaggedTensor._from_row_partition(st_input.values, partition, validate=False)


def from_tensor(tensor, lengths=None, padding=None, ragged_rank=1, row_splits_dtype=dtypes.int64):
    dtype = dtypes.as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    tensor = convert_to_tensor(tensor)
    if tensor.shape.rank is not None and tensor.shape.rank < 2:
        raise ValueError(
            "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged "
            "dimensions. Received argument `tensor` with rank "
            f"{tensor.shape.rank}."
        )
    tensor.shape.with_rank_at_least(ragged_rank + 1)
    if (
        isinstance(lengths, (list, tuple))
        and lengths
        and isinstance(lengths[0], (list, tuple, Tensor))
        and not _is_scalar(lengths[0])
    ):
        # Lengths of rows, of rows of these, and so on: the places that they name, as a mask.
        from weft._src.ops import array_ops

        lengths = [convert_to_tensor(n) for n in lengths]
        count = raw.Sum(input=lengths[-1], reduction_indices=0)
        marks = raw.Fill(dims=raw.ExpandDims(input=count, dim=0), value=True)
        mask = RaggedTensor.from_nested_row_lengths(marks, lengths, validate=False).to_tensor(default_value=False)
        return RaggedTensor.from_nested_row_lengths(array_ops.boolean_mask(tensor, mask), lengths, validate=False)
    if ragged_rank > 1:
        sizes = raw.Shape(input=tensor, out_type=dtype)
        joined = raw.Reshape(
            tensor=tensor,
            shape=raw.ConcatV2(values=[convert_to_tensor([-1], dtype), piece(sizes, ragged_rank, None)], axis=0),
        )
        joined.set_shape(TensorShape([None]).concatenate(tensor.shape[ragged_rank:]))
        values = from_tensor(
            joined,
            None if lengths is None else raw.Reshape(tensor=convert_to_tensor(lengths), shape=[-1]),
            padding,
            1,
            dtype,
        )
        rows = at(sizes, 0)
        counts = [rows]
        for axis in range(1, ragged_rank):
            rows = raw.Mul(x=rows, y=at(sizes, axis))
            counts.append(rows)
        for axis in range(ragged_rank - 1, 0, -1):
            length = tensor.shape[axis]
            partition = RowPartition.from_uniform_row_length(
                at(sizes, axis) if length is None else length,
                counts[axis],
                counts[axis - 1],
                validate=False,
                dtype=dtype,
            )
            values = RaggedTensor._of(values, partition)
        return values
    sizes = raw.Shape(input=tensor, out_type=dtype)
    rows, columns = at(sizes, 0), at(sizes, 1)
    if padding is not None:
        lengths = _lengths_without(tensor, padding, columns, dtype)
    if lengths is not None:
        lengths = (
            convert_to_tensor(lengths, dtype) if not isinstance(lengths, Tensor) else raw.Cast(x=lengths, DstT=dtype)
        )
        lengths.shape.with_rank(1)
        lengths = raw.Minimum(x=lengths, y=columns)
        lengths = raw.Maximum(x=lengths, y=convert_to_tensor(0, dtype))
        inside = raw.Less(
            x=raw.ExpandDims(input=counting(columns, dtype), dim=0), y=raw.ExpandDims(input=lengths, dim=1)
        )
        return RaggedTensor.from_row_lengths(_masked(tensor, inside), lengths, validate=False)
    values = raw.Reshape(
        tensor=tensor,
        shape=raw.ConcatV2(
            values=[raw.ExpandDims(input=raw.Mul(x=rows, y=columns), dim=0), piece(sizes, 2, None)], axis=0
        ),
    )
    values.set_shape(TensorShape([None]).concatenate(tensor.shape[2:]))
    length = tensor.shape[1] if tensor.shape[1] is not None else columns
    return RaggedTensor._of(
        values,
        RowPartition.from_uniform_row_length(
            length,
            nrows=tensor.shape[0] if tensor.shape[0] is not None else rows,
            nvals=None,
            validate=False,
            dtype=dtype,
        ),
    )


def _is_scalar(value):
    return isinstance(value, Tensor) and value.shape.rank == 0


def _masked(tensor, mask):
    from weft._src.ops import array_ops

    return array_ops.boolean_mask(tensor, mask)


def _lengths_without(tensor, padding, columns, dtype):
    """The lengths of rows without the padding at their ends."""
    padding = convert_to_tensor(padding, tensor.dtype)
    padding.shape.assert_is_compatible_with(tensor.shape[2:])
    same = raw.Equal(x=tensor, y=padding)
    rank = tensor.shape.rank
    if rank > 2:
        same = raw.All(input=same, reduction_indices=list(range(2, rank)))
    place = raw.AddV2(x=counting(columns, dtype), y=convert_to_tensor(1, dtype))
    kept = raw.Mul(x=raw.Cast(x=raw.LogicalNot(x=same), DstT=dtype), y=place)
    return raw.Max(
        input=raw.ConcatV2(values=[kept, raw.Mul(x=_first_column(kept), y=convert_to_tensor(0, dtype))], axis=1),
        reduction_indices=1,
    )


def _first_column(matrix):
    """One column of the matrix's height: there also where the matrix has no columns."""
    rows = raw.ExpandDims(input=count_rows(matrix, dtypes.int32), dim=0)
    return raw.Fill(
        dims=raw.ConcatV2(values=[rows, convert_to_tensor([1])], axis=0), value=convert_to_tensor(0, matrix.dtype)
    )


def merge_dims(value, outer, inner):
    """The axes outer to inner as one."""
    if outer == inner:
        return value
    if not isinstance(value, RaggedTensor):
        shape = raw.Shape(input=value, out_type=dtypes.int64)
        parts = [piece(shape, 0, outer)] if outer else []
        parts += [convert_to_tensor([-1], dtypes.int64)]
        if inner + 1 < value.shape.rank:
            parts.append(piece(shape, inner + 1, None))
        made = raw.Reshape(tensor=value, shape=raw.ConcatV2(values=parts, axis=0) if len(parts) > 1 else parts[0])
        merged = 1
        for d in value.shape[outer : inner + 1]:
            merged = None if d is None or merged is None else merged * d
        made.set_shape(value.shape[:outer].concatenate([merged]).concatenate(value.shape[inner + 1 :]))
        return made
    # The innermost of the axes first; each step joins two.
    while outer < inner:
        value = _join(value, inner - 1)
        inner -= 1
    return value


def _join(value, axis):
    """The axes axis and axis + 1 as one."""
    if not isinstance(value, RaggedTensor):
        return merge_dims(value, axis, axis + 1)
    if axis == 0:
        return value.values
    if axis > 1:
        return (
            value.with_values(_join(value.values, axis - 1))
            if isinstance(value.values, RaggedTensor)
            else value.with_values(merge_dims(value.values, axis - 1, axis))
        )
    if isinstance(value.values, RaggedTensor):
        inner = value.values
        splits = raw.GatherV2(params=inner.row_splits, indices=value.row_splits, axis=0)
        length = None
        if value.uniform_row_length is not None and inner.uniform_row_length is not None:
            length = raw.Mul(x=value.uniform_row_length, y=inner.uniform_row_length)
        return RaggedTensor._of(inner.values, RowPartition._of_splits(splits, length))
    dense = value.values
    size = dense.shape[1]
    size = (
        convert_to_tensor(size, value.row_splits.dtype)
        if size is not None
        else at(raw.Shape(input=dense, out_type=value.row_splits.dtype), 1)
    )
    length = None if value.uniform_row_length is None else raw.Mul(x=value.uniform_row_length, y=size)
    return RaggedTensor._of(
        merge_dims(dense, 0, 1), RowPartition._of_splits(raw.Mul(x=value.row_splits, y=size), length)
    )


def static_int(value):
    """An int, where it is known."""
    if isinstance(value, int):
        return value
    found = constant_value(value) if isinstance(value, Tensor) else value
    return None if found is None else int(found)
