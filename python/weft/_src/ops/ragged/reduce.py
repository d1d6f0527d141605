"""Reductions of ragged tensors: over rows by segments, over columns by the place in the row."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor import Tensor
from weft._src.ops.ragged import checks
from weft._src.ops.ragged.broadcast import binary, unary
from weft._src.ops.ragged.ragged_tensor import RaggedTensor, as_values, positive_axis
from weft._src.ops.ragged.stack import expand_dims

_SEGMENTS = {
    "sum": raw.UnsortedSegmentSum,
    "prod": raw.UnsortedSegmentProd,
    "min": raw.UnsortedSegmentMin,
    "max": raw.UnsortedSegmentMax,
}


def _dense(kind, value, axis, keepdims):
    from weft._src.ops import reduction_ops

    return getattr(reduction_ops, "reduce_" + kind)(value, axis, keepdims)


def _aggregate(kind, value, axis, keepdims=False, separator=None):
    """The reduction `kind` of sum, prod, min and max."""
    if not isinstance(value, RaggedTensor):
        return _dense(kind, value, axis, keepdims)
    if isinstance(axis, Tensor):
        axis = constant_value(axis)
        if axis is None:
            raise ValueError("axis must be known at graph construction time.")
        axis = axis.tolist() if axis.ndim else axis[()]
    rank = value.shape.rank
    if axis is None:
        made = _dense(kind, value.flat_values, None, False)
        if keepdims:
            for _ in range(rank):
                made = raw.ExpandDims(input=made, dim=0)
        return made
    if isinstance(axis, (list, tuple)):
        if not axis:
            return value
        if len(axis) > 1:
            axes = [positive_axis(a, rank, f"axis[{i}]", "rank(input_tensor)") for i, a in enumerate(axis)]
            # From the innermost: what is left of the others does not move.
            for a in sorted(axes, reverse=True):
                value = _aggregate(kind, value, a, keepdims)
            return value
        axis = axis[0]
    axis = positive_axis(axis, rank, ndims_name="rank(input_tensor)")
    if axis > 1:
        return value.with_values(_aggregate(kind, value.values, axis - 1, keepdims))
    if axis == 0:
        return _columns(kind, value, keepdims)
    made = _segments(kind, value.values, value.value_rowids(), value.nrows())
    return expand_dims(made, 1) if keepdims else made


def _columns(kind, value, keepdims):
    lengths = value.row_lengths()
    zero = convert_to_tensor([0], lengths.dtype)
    longest = raw.Max(input=raw.ConcatV2(values=[lengths, zero], axis=0), reduction_indices=0)
    made = _segments(kind, value.values, value._row_partition.offsets_in_rows(), longest)
    return expand_dims(made, 0) if keepdims else made


def _segments(kind, values, ids, count):
    """Rows of values with the same id as one."""
    if not isinstance(values, RaggedTensor):
        return _SEGMENTS[kind](data=values, segment_ids=ids, num_segments=count)
    # Rows of the result are as long as the longest of theirs; each value goes to its place in its row's segment.
    lengths = values.row_lengths()
    ids = raw.Cast(x=ids, DstT=lengths.dtype) if ids.dtype is not lengths.dtype else ids
    longest = raw.UnsortedSegmentMax(data=lengths, segment_ids=ids, num_segments=count)
    longest = raw.Maximum(x=longest, y=convert_to_tensor(0, longest.dtype))
    splits = raw.ConcatV2(values=[convert_to_tensor([0], longest.dtype), raw.Cumsum(x=longest, axis=0)], axis=0)
    starts = raw.GatherV2(
        params=splits, indices=raw.GatherV2(params=ids, indices=values.value_rowids(), axis=0), axis=0
    )
    places = raw.AddV2(x=starts, y=values._row_partition.offsets_in_rows())
    made = _segments(kind, values.values, places, splits[-1])
    return RaggedTensor.from_row_splits(made, splits, validate=False)


def reduce_sum(input_tensor, axis=None, keepdims=None, name=None):
    return _aggregate("sum", input_tensor, axis, keepdims or False)


def reduce_prod(input_tensor, axis=None, keepdims=None, name=None):
    return _aggregate("prod", input_tensor, axis, keepdims or False)


def reduce_min(input_tensor, axis=None, keepdims=None, name=None):
    return _aggregate("min", input_tensor, axis, keepdims or False)


def reduce_max(input_tensor, axis=None, keepdims=None, name=None):
    return _aggregate("max", input_tensor, axis, keepdims or False)


def _elementwise(function, x, y):
    if isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor):
        return binary(function, x, y)
    return function(x, y)


def reduce_mean(input_tensor, axis=None, keepdims=None, name=None):
    from weft._src.ops import math_ops

    value = as_values(input_tensor)
    total = reduce_sum(value, axis, keepdims)
    ones = unary(lambda v: raw.OnesLike(x=v), value)
    count = reduce_sum(ones, axis, keepdims)
    if not total.dtype.is_floating and not total.dtype.is_complex:
        if isinstance(total, RaggedTensor):
            return binary(lambda a, b: math_ops.truediv(a, b), total, count)
        return math_ops.truediv(total, count)
    return _elementwise(lambda a, b: raw.RealDiv(x=a, y=b), total, count)


def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    value = as_values(input_tensor)
    if value.dtype.is_complex:
        raise ValueError("reduce_variance is not supported for RaggedTensors with complex dtypes.")
    square = unary(lambda v: raw.Square(x=v), value)
    mean = reduce_mean(value, axis, keepdims)
    mean_of_square = reduce_mean(square, axis, keepdims)
    return _elementwise(
        lambda a, b: raw.Maximum(x=raw.Sub(x=a, y=raw.Square(x=b)), y=convert_to_tensor(0, a.dtype)),
        mean_of_square,
        mean,
    )


def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    variance = reduce_variance(input_tensor, axis, keepdims)
    return unary(lambda v: raw.Sqrt(x=v), variance) if isinstance(variance, RaggedTensor) else raw.Sqrt(x=variance)


def _as_bool(value):
    def cast(v):
        return raw.Cast(x=v, DstT=dtypes.bool)

    return unary(cast, value) if isinstance(value, RaggedTensor) else cast(value)


def _logical(kind):
    def reduce(input_tensor, axis=None, keepdims=None, name=None):
        value = unary(lambda v: raw.Cast(x=v, DstT=dtypes.int32), as_values(input_tensor))
        return _as_bool(_aggregate(kind, value, axis, keepdims or False))

    return reduce


reduce_all, reduce_any = _logical("prod"), _logical("sum")


def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """By the greatest of each sum, which stays finite."""
    from weft._src.ops import math_ops

    value = as_values(input_tensor)
    peak = reduce_max(value, axis, keepdims=True)

    def finite(v):
        return raw.SelectV2(condition=raw.IsFinite(x=v), t=v, e=raw.ZerosLike(x=v))

    peak = unary(finite, peak) if isinstance(peak, RaggedTensor) else finite(peak)
    total = reduce_sum(binary(lambda a, b: raw.Exp(x=raw.Sub(x=a, y=b)), value, peak), axis, keepdims)
    own = reduce_sum(peak, axis, keepdims) if not keepdims else peak
    return _elementwise(lambda a, b: raw.AddV2(x=math_ops.log(a), y=b), total, own)


# ---- segments ---------------------------------------------------------------------------------------------


def _segment(kind):
    def segment(data, segment_ids, num_segments, name=None):
        data, segment_ids = as_values(data, name="data"), as_values(segment_ids, name="segment_ids")
        if segment_ids.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("segment_ids must have dtype int32 or int64.")
        while isinstance(segment_ids, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                raise ValueError(
                    "segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data is not."
                )
            checks.equal(
                segment_ids.row_splits,
                data.row_splits,
                "segment_ids.shape must be a prefix of data.shape: segment_ids.row_splits != data.row_splits",
            )
            data, segment_ids = data.values, segment_ids.values
        return _segments(kind, data, segment_ids, convert_to_tensor(num_segments))

    return segment


segment_sum, segment_prod, segment_min, segment_max = (_segment(kind) for kind in ("sum", "prod", "min", "max"))


def _of_count(divisor):
    def segment(data, segment_ids, num_segments, name=None):
        total = segment_sum(data, segment_ids, num_segments)
        count = segment_sum(unary(lambda v: raw.OnesLike(x=v), as_values(data)), segment_ids, num_segments)
        if isinstance(total, RaggedTensor):
            return total.with_flat_values(total.flat_values / divisor(count.flat_values))
        return total / divisor(count)

    return segment


segment_mean, segment_sqrt_n = _of_count(lambda n: n), _of_count(lambda n: raw.Sqrt(x=n))
