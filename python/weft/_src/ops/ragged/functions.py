"""Functions of the API for ragged tensors that are neither elementwise nor about shapes alone."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor import Tensor
from weft._src.ops.ragged import checks
from weft._src.ops.ragged.broadcast import binary, broadcast, unary
from weft._src.ops.ragged.convert import from_tensor, to_sparse
from weft._src.ops.ragged.gather import gather
from weft._src.ops.ragged.ragged_tensor import RaggedTensor, as_values, count_rows, positive_axis
from weft._src.ops.ragged.reduce import reduce_max, reduce_sum


def size(input, out_type=None, name=None):
    return raw.Size(
        input=input.flat_values, out_type=dtypes.int32 if out_type is None else dtypes.as_dtype(out_type), name=name
    )


def rank(input, name=None):
    known = input.shape.rank
    if known is not None:
        return convert_to_tensor(known)
    return raw.AddV2(x=raw.Rank(input=input.flat_values), y=convert_to_tensor(input.ragged_rank))


def where(condition, x=None, y=None, name=None):
    """Of x where condition holds, of y elsewhere; without x and y, where it holds."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    condition = as_values(condition, dtypes.bool)
    if x is None:
        sparse = to_sparse(condition)
        return raw.GatherV2(
            params=sparse.indices, indices=raw.Squeeze(input=raw.Where(input=sparse.values), squeeze_dims=[1]), axis=0
        )
    from weft._src.ops.ragged.broadcast import pair

    x, y = pair(x, y)
    parts = broadcast_all([condition, x, y])
    like = next(p for p in parts if isinstance(p, RaggedTensor))
    c, a, b = (p.flat_values if isinstance(p, RaggedTensor) else p for p in parts)
    return like.with_flat_values(raw.SelectV2(condition=c, t=a, e=b))


def where_v1(condition, x=None, y=None, name=None):
    """Version 1's: all three have one shape, or a condition that is not ragged tells rows."""
    if x is None and y is None:
        return where(condition)
    if x is None or y is None:
        raise ValueError("x and y must be either both None or both non-None")
    condition, x, y = (
        as_values(condition, dtypes.bool, name="condition"),
        as_values(x, name="x"),
        as_values(y, name="y"),
    )
    given = [isinstance(v, RaggedTensor) for v in (condition, x, y)]
    if all(given):
        from weft._src.ops.ragged.broadcast import map_flat_values

        return map_flat_values(lambda c, t, e: raw.Select(condition=c, t=t, e=e), condition, x, y)
    if given[0]:
        raise ValueError("Input shapes do not match.")
    condition.shape.assert_has_rank(1)
    from weft._src.ops.ragged import gather, stack

    both = stack.concat([x, y], 0)
    rows, others = (
        raw.Range(start=raw.Cast(x=0, DstT=n.dtype), limit=n, delta=raw.Cast(x=1, DstT=n.dtype))
        for n in (count_rows(v, both.row_splits.dtype) for v in (x, y))
    )
    others = raw.AddV2(x=others, y=count_rows(x, both.row_splits.dtype))
    return gather.gather(both, raw.Select(condition=condition, t=rows, e=others))


def broadcast_all(values):
    """All values with the same rows; those that only inner axes concern stay as they are."""
    common = next(v for v in values if isinstance(v, RaggedTensor))
    for v in values:
        if v is not common:
            common = broadcast(common, v)[0]
    return [v if v is common else broadcast(v, common)[0] for v in values]


def add_n(inputs, name=None):
    if not inputs:
        raise ValueError("tf.add_n: expected at least one input.")
    from weft._src.ops.ragged.broadcast import map_flat_values

    return map_flat_values(lambda values: raw.AddN(inputs=values, name=name), list(inputs))


def softmax(logits, axis=None, name=None):
    """Over the last axis, or over a ragged one."""
    axis = positive_axis(-1 if axis is None else axis, logits.shape.rank)
    if (
        not isinstance(logits.values, RaggedTensor)
        and logits.flat_values.shape.rank > 1
        and axis == logits.shape.rank - 1
    ):
        return unary(lambda v: raw.Softmax(logits=v), logits)
    peak = reduce_max(logits, axis, keepdims=True)
    shifted = binary(lambda a, b: raw.Exp(x=raw.Sub(x=a, y=b)), logits, peak)
    return binary(lambda a, b: raw.RealDiv(x=a, y=b), shifted, reduce_sum(shifted, axis, keepdims=True))


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running sums along the last ragged axis or an inner one."""
    from weft._src.ops import reduction_ops

    axis = positive_axis(axis, x.shape.rank)
    if axis == 0:
        # By columns: the values in the order of their columns are the rows of another ragged tensor.
        from weft._src.ops import sort_ops

        columns = x._row_partition.offsets_in_rows()
        order = sort_ops.argsort(columns, stable=True)
        transposed = RaggedTensor.from_value_rowids(
            gather(x.values, order),
            raw.GatherV2(params=columns, indices=order, axis=0),
            x.bounding_shape(1),
            validate=False,
        )
        return x.with_values(gather(cumsum(transposed, 1, exclusive, reverse).values, raw.InvertPermutation(x=order)))
    if axis > 1:
        inner = (
            cumsum(x.values, axis - 1, exclusive, reverse)
            if isinstance(x.values, RaggedTensor)
            else reduction_ops.cumsum(x.values, axis - 1, exclusive, reverse)
        )
        return x.with_values(inner)
    values = x.values
    if isinstance(values, RaggedTensor):
        raise NotImplementedError("cumsum of a ragged tensor along an axis that has ragged ones inside")
    running = reduction_ops.cumsum(values, 0, exclusive, reverse)
    # What rows before (or behind) this one add up to.
    totals = raw.UnsortedSegmentSum(data=values, segment_ids=x.value_rowids(), num_segments=x.nrows())
    before = reduction_ops.cumsum(totals, 0, True, reverse)
    return x.with_values(raw.Sub(x=running, y=raw.GatherV2(params=before, indices=x.value_rowids(), axis=0)))


def bincount(
    arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32, name=None, axis=None, binary_output=False
):
    """How often each number occurs, in all or (axis=-1) in each row."""
    from weft._src.ops import reduction_ops

    if axis in (None, 0):
        own = None if weights is None else weights.flat_values if isinstance(weights, RaggedTensor) else weights
        return reduction_ops.bincount(arr.flat_values, own, minlength, maxlength, dtype, name, axis, binary_output)
    values = (
        arr.values if arr.values.dtype in (dtypes.int32, dtypes.int64) else raw.Cast(x=arr.values, DstT=dtypes.int32)
    )
    zero = convert_to_tensor([0], values.dtype)
    count = raw.Max(
        input=raw.ConcatV2(values=[raw.AddV2(x=values, y=convert_to_tensor(1, values.dtype)), zero], axis=0),
        reduction_indices=0,
    )
    if minlength is not None:
        count = raw.Maximum(x=count, y=convert_to_tensor(minlength, values.dtype))
    if maxlength is not None:
        count = raw.Minimum(x=count, y=convert_to_tensor(maxlength, values.dtype))
    own = convert_to_tensor([], dtypes.as_dtype(dtype)) if weights is None else weights.values
    return raw.RaggedBincount(
        splits=arr.row_splits, values=values, size=count, weights=own, binary_output=binary_output, name=name
    )


def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    from weft._src.ops import creation_ops

    if isinstance(axis, int) and axis >= 0:
        if axis <= indices.ragged_rank:
            raise ValueError("axis (%d) must be greater than indices.ragged_rank (%d)." % (axis, indices.ragged_rank))
        axis -= indices.ragged_rank
    return indices.with_flat_values(
        creation_ops.one_hot(indices.flat_values, depth, on_value, off_value, axis, dtype, name)
    )


def matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    output_type=None,
    name=None,
    **others,
):
    """Products of the matrices of two batches, of which rows and columns may differ in number."""
    from weft._src.ops import product_ops

    a = as_values(a, preferred_dtype=getattr(b, "dtype", None))
    b = as_values(b, preferred_dtype=a.dtype)
    if a.shape.rank is None or b.shape.rank is None or a.shape.rank != b.shape.rank:
        raise ValueError("matmul of ragged tensors needs two of the same, known rank")
    if a.shape.rank < 3:
        raise ValueError(f"matmul requires rank of at least 3 for ragged tensors, got {a.shape.rank}")
    if a.shape.rank > 3:
        rows, columns = (v if isinstance(v, RaggedTensor) else from_tensor(v) for v in (a, b))
        inner = matmul(
            rows.values, columns.values, transpose_a, transpose_b, adjoint_a, adjoint_b, output_type=output_type
        )
        return rows.with_values(inner)
    dense = [v.to_tensor() if isinstance(v, RaggedTensor) else v for v in (a, b)]
    made = product_ops.matmul(
        *dense,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        adjoint_a=adjoint_a,
        adjoint_b=adjoint_b,
        output_type=output_type,
    )
    rows = _lengths(a, 2 if transpose_a or adjoint_a else 1)
    columns = _lengths(b, 1 if transpose_b or adjoint_b else 2)
    if columns is None:
        return made if rows is None else from_tensor(made, lengths=rows)
    if rows is None:
        rows = raw.Fill(dims=raw.Shape(input=columns), value=raw.Cast(x=raw.Shape(input=made)[1], DstT=columns.dtype))
    ids = raw.UpperBound(
        sorted_inputs=raw.ExpandDims(input=raw.Cumsum(x=rows, axis=0), dim=0),
        values=raw.ExpandDims(
            input=raw.Range(
                start=convert_to_tensor(0, rows.dtype),
                limit=raw.Sum(input=rows, reduction_indices=0),
                delta=convert_to_tensor(1, rows.dtype),
            ),
            dim=0,
        ),
        out_type=rows.dtype,
    )
    return from_tensor(
        made,
        lengths=[rows, raw.GatherV2(params=columns, indices=raw.Squeeze(input=ids, squeeze_dims=[0]), axis=0)],
        ragged_rank=2,
    )


def _lengths(value, axis):
    """The size of each matrix along one of its axes; None where it is the same for all."""
    if not isinstance(value, RaggedTensor) or value.shape[axis] is not None:
        return None
    if axis == 1:
        return value.row_lengths()
    if not isinstance(value.values, RaggedTensor):
        return None
    longest = reduce_max(value.row_lengths(axis=2), 1)
    return raw.Maximum(x=longest, y=convert_to_tensor(0, longest.dtype))


def reshape(tensor, shape, name=None):
    from weft._src.ops.ragged.dynamic_shape import DynamicRaggedShape

    if isinstance(shape, DynamicRaggedShape):
        flat = tensor.flat_values if isinstance(tensor, RaggedTensor) else tensor
        return shape._add_row_partitions(raw.Reshape(tensor=flat, shape=shape.inner_shape))
    return raw.Reshape(tensor=tensor.flat_values, shape=shape, name=name)


def string_join(inputs, separator="", name=None):
    values = [as_values(v, dtypes.string) for v in inputs]
    parts = broadcast_all(values)
    like = next(p for p in parts if isinstance(p, RaggedTensor))
    return like.with_flat_values(
        raw.StringJoin(
            inputs=[p.flat_values if isinstance(p, RaggedTensor) else p for p in parts], separator=separator, name=name
        )
    )


def reduce_join(inputs, axis=None, keepdims=None, separator="", name=None):
    """Texts along an axis in one."""
    from weft._src.ops import string_ops

    if not isinstance(inputs, RaggedTensor):
        return string_ops.reduce_join(inputs, axis, keepdims or False, separator)
    if axis is None:
        while isinstance(inputs, RaggedTensor):
            inputs = reduce_join(inputs, -1, separator=separator)
        return string_ops.reduce_join(inputs, None, keepdims or False, separator)
    if isinstance(axis, (list, tuple)):
        for a in sorted((positive_axis(a, inputs.shape.rank) for a in axis), reverse=True):
            inputs = reduce_join(inputs, a, keepdims, separator)
        return inputs
    axis = positive_axis(axis, inputs.shape.rank)
    if axis > 1:
        return inputs.with_values(reduce_join(inputs.values, axis - 1, keepdims, separator))
    if isinstance(inputs.values, RaggedTensor) or inputs.values.shape.rank != 1:
        raise NotImplementedError("reduce_join of a ragged tensor along an axis that has others inside")
    ids, count = (
        (inputs.value_rowids(), inputs.nrows())
        if axis
        else (inputs._row_partition.offsets_in_rows(), inputs.bounding_shape(1))
    )
    made = raw.UnsortedSegmentJoin(inputs=inputs.values, segment_ids=ids, num_segments=count, separator=separator)
    return raw.ExpandDims(input=made, dim=axis) if keepdims else made


def dynamic_partition(data, partitions, num_partitions, name=None):
    """The data by partition, as a list."""
    from weft._src.ops.ragged.factory import stack_dynamic_partitions

    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a Python integer")
    stacked = stack_dynamic_partitions(data, partitions, num_partitions)
    return [stacked[i] for i in range(num_partitions)]


def split(value, num_or_size_splits, axis=0, num=None, name=None):
    """Pieces along an axis whose size is the same in all rows."""
    from weft._src.ops import check_ops, reduction_ops
    from weft._src.ops.ragged.dynamic_shape import DynamicRaggedShape

    if isinstance(num_or_size_splits, int) and num_or_size_splits == 1:
        return [value]
    check_ops.assert_integer(
        num_or_size_splits, message="`num_or_size_splits` must be an `int` or 1-D list or `Tensor` of integers."
    )
    shape = DynamicRaggedShape.from_tensor(value)
    axis = positive_axis(axis, shape.rank)
    try:
        total = shape[axis]
    except ValueError:
        raise ValueError(
            f"Cannot split a ragged dimension. Got `value` with shape {shape} and `axis` {axis}."
        ) from None
    if isinstance(num_or_size_splits, int):
        count = num_or_size_splits
        if count < 1:
            raise ValueError(f"`num_or_size_splits` must be >=1 if it is an `int`.Received {num_or_size_splits}.")
        size = raw.FloorDiv(x=total, y=convert_to_tensor(count, total.dtype))
        sizes = raw.Fill(dims=[count], value=size)
    else:
        sizes = convert_to_tensor(num_or_size_splits)
        if sizes.shape.rank not in (None, 1):
            raise TypeError(
                f"`num_or_size_splits` must be an `int` or 1-D list or `Tensor`. Received {num_or_size_splits}."
            )
        count = sizes.shape[0] if sizes.shape.rank else None
        if count is None:
            if num is None:
                raise ValueError(
                    "`num` must be specified as an `int` when the size of `num_or_size_split` is statically unknown. "
                    f"Received `num`: {num} and `num_or_size_split`: {num_or_size_splits}."
                )
            count = num
        elif num is not None and num != count:
            raise ValueError(
                f"`num` does not match the size of `num_or_size_split`. Received `num`: {num} and size of `num_or_size_split`: {count}."
            )
    check_ops.assert_non_negative(num_or_size_splits, message="`num_or_size_splits` must be non-negative.")
    splits = raw.ConcatV2(values=[convert_to_tensor([0], sizes.dtype), reduction_ops.cumsum(sizes)], axis=0)
    checks.equal(
        raw.Cast(x=total, DstT=splits.dtype),
        splits[-1],
        "Cannot exactly split the `axis` dimension of `value` with the given `num_or_size_split`.",
    )
    return [value[(slice(None),) * axis + (slice(splits[i], splits[i + 1]),)] for i in range(count)]


def repeat(input, repeats, axis=None, name=None):
    """Without an axis the values alone count."""
    if axis is not None:
        return NotImplemented
    from weft._src.ops import array_ops

    return array_ops.repeat(input.flat_values, repeats, 0)


def resize(images, size, method="bilinear", preserve_aspect_ratio=False, antialias=False, name=None):
    """tf.image.resize: images of several sizes become one batch."""
    from weft._src.framework.type_spec import TensorSpec
    from weft._src.function.functional import map_fn
    from weft._src.ops import image_ops

    if images.shape.rank != 4:
        raise ValueError("tf.image.resize: images.shape.rank must be 4 if images is ragged.")
    size = convert_to_tensor(size, dtypes.int32, name="size")
    known = constant_value(size)
    spec = TensorSpec([*([None, None] if known is None else known.tolist()), images.shape[-1]], dtypes.float32)

    def one(image):
        image = image.to_tensor() if isinstance(image, RaggedTensor) else image
        return image_ops.resize(image, size, method, preserve_aspect_ratio, antialias)

    if images.shape[0] == 0:
        channels = raw.Shape(input=images.flat_values)[-1:]
        return raw.Fill(dims=raw.ConcatV2(values=[[0], size, channels], axis=0), value=0.0)
    return map_fn(one, images, fn_output_signature=spec)
