"""Reductions: reduce_*, cumulative sums, segments, argmax, bincount, histograms."""

from builtins import range as _count

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.tensor import Tensor
from weft._src.ops._direct import define, scope

define(
    globals(),
    """
segment_max data, segment_ids
segment_mean data, segment_ids
segment_min data, segment_ids
segment_prod data, segment_ids
segment_sum data, segment_ids
unsorted_segment_max data, segment_ids, num_segments
unsorted_segment_min data, segment_ids, num_segments
unsorted_segment_prod data, segment_ids, num_segments
unsorted_segment_sum data, segment_ids, num_segments
""",
)


def _axes(tensor, axis):
    """What the op takes for an axis argument; None is all axes."""
    if axis is not None:
        return list(axis) if isinstance(axis, (set, frozenset, _count)) else axis
    if isinstance(tensor, _weft.VariableBase) and _weft.in_graph():
        sizes = tensor.shape.as_list()
    else:
        sizes = (tensor if isinstance(tensor, Tensor) else convert_to_tensor(tensor))._shape_tuple()
    if sizes is None:
        return raw.Range(start=0, limit=raw.Rank(input=tensor), delta=1)
    if _weft.in_graph():
        if not sizes:
            return _all_of(tensor)
        return convert_to_tensor(list(_count(len(sizes))), dtypes.int32)
    made = _all_axes.get(len(sizes))
    if made is None:
        made = _all_axes[len(sizes)] = convert_to_tensor(list(_count(len(sizes))), dtypes.int32)
    return made


_all_axes = {}  # by rank, for eager calls


def _all_of(value):
    """In graphs: the axes of what is not a tensor yet, or has none."""
    from weft._src.ops import array_ops, creation_ops

    return creation_ops.range(0, array_ops.rank(value))


def _reduce(op, doc, of_truth=False):
    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        if isinstance(input_tensor, _weft.VariableBase) and _weft.in_graph() and input_tensor.shape.rank is not None:
            pass  # read for the op, in its scope
        elif not isinstance(input_tensor, Tensor):
            given = input_tensor
            truth = of_truth and isinstance(given, (list, tuple, int))
            if truth or not _weft.in_graph():
                input_tensor = _weft.convert(given, dtypes.bool if truth else None)
            if axis is None and _weft.in_graph():
                axis = _all_of(given)
        elif isinstance(axis, float):
            axis = convert_to_tensor(axis, dtypes.int32)
        result = op(
            input=input_tensor, reduction_indices=_axes(input_tensor, axis), keep_dims=bool(keepdims), name=name
        )
        if axis is None and not keepdims and _weft.in_graph() and result.shape.rank is None:
            result.set_shape(())  # of a tensor of unknown rank
        return result

    reduce.__doc__ = doc
    return reduce


def _named(function, name):
    function.__name__ = function.__qualname__ = name
    return dispatchable(function)


reduce_sum = _named(_reduce(raw.Sum, "The sum over axes."), "reduce_sum")
reduce_mean = _named(_reduce(raw.Mean, "The mean over axes."), "reduce_mean")
reduce_max = _named(_reduce(raw.Max, "The greatest over axes."), "reduce_max")
reduce_min = _named(_reduce(raw.Min, "The least over axes."), "reduce_min")
reduce_prod = _named(_reduce(raw.Prod, "The product over axes."), "reduce_prod")
reduce_any = _named(_reduce(raw.Any, "Whether any is true over axes.", of_truth=True), "reduce_any")
reduce_all = _named(_reduce(raw.All, "Whether all are true over axes.", of_truth=True), "reduce_all")
reduce_euclidean_norm = _named(
    _reduce(raw.EuclideanNorm, "The root of the sum of squares over axes."), "reduce_euclidean_norm"
)


@dispatchable
def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The mean of squared distances from the mean."""
    with scope(name, "reduce_variance"):
        x = convert_to_tensor(input_tensor)
        means = reduce_mean(x, axis=axis, keepdims=True)
        if means.dtype.is_integer:
            raise TypeError(f"Input must be either real or complex. Received integer type {means.dtype}.")
        apart = x - means
        if apart.dtype.is_complex:
            square = raw.Real(input=apart * raw.Conj(input=apart), Tout=apart.dtype.real_dtype)
        else:
            square = raw.Square(x=apart)
        return reduce_mean(square, axis=axis, keepdims=keepdims)


@dispatchable
def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The root of the variance."""
    with scope(name, "reduce_std"):
        return raw.Sqrt(x=reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


@dispatchable
def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log(sum(exp(x))), safe from numbers that are too large."""
    with scope(name, "ReduceLogSumExp") as name:
        x = convert_to_tensor(input_tensor)
        dims = _axes(x, axis)
        top = raw.Max(input=x, reduction_indices=dims, keep_dims=True)
        top = raw.StopGradient(input=raw.SelectV2(condition=raw.IsFinite(x=top), t=top, e=0))
        out = raw.Log(x=raw.Sum(input=raw.Exp(x=raw.Sub(x=x, y=top)), reduction_indices=dims, keep_dims=bool(keepdims)))
        if not keepdims:
            top = raw.Reshape(tensor=top, shape=raw.Shape(input=out))
        return raw.AddV2(x=out, y=top, name=name)


@dispatchable
def count_nonzero(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None):
    """How many elements are not zero."""
    with scope(name, "count_nonzero"):
        x = convert_to_tensor(input, name="input")
        other = raw.NotEqual(
            x=x,
            y=convert_to_tensor("" if x.dtype is dtypes.string else False if x.dtype is dtypes.bool else 0, x.dtype),
        )
        total = reduce_sum(raw.Cast(x=other, DstT=dtypes.int64), axis=axis, keepdims=bool(keepdims))
        dtype = dtypes.as_dtype(dtype)
        return total if dtype is dtypes.int64 else raw.Cast(x=total, DstT=dtype)


@dispatchable
def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Sums of the elements up to each."""
    return raw.Cumsum(x=x, axis=axis, exclusive=exclusive, reverse=reverse, name=name)


@dispatchable
def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """Products of the elements up to each."""
    return raw.Cumprod(x=x, axis=axis, exclusive=exclusive, reverse=reverse, name=name)


@dispatchable
def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """log(sum(exp(x))) of the elements up to each."""
    return raw.CumulativeLogsumexp(x=x, axis=axis, exclusive=exclusive, reverse=reverse, name=name)


def _place_axis(axis):
    if isinstance(axis, float):
        raise TypeError("axis must be int or Tensor with integer datatype")
    return 0 if axis is None else axis


@dispatchable
def argmax(input, axis=None, output_type=dtypes.int64, name=None):
    """The place of the greatest along an axis."""
    return raw.ArgMax(input=input, dimension=_place_axis(axis), output_type=output_type, name=name)


@dispatchable
def argmin(input, axis=None, output_type=dtypes.int64, name=None):
    """The place of the least along an axis."""
    return raw.ArgMin(input=input, dimension=_place_axis(axis), output_type=output_type, name=name)


def _segment_counts(data, segment_ids, num_segments):
    """How many rows each segment has, at least 1, in the rank of the data."""
    ids = convert_to_tensor(segment_ids)
    flat = raw.Reshape(tensor=ids, shape=[-1])
    ones = raw.OnesLike(x=raw.Cast(x=flat, DstT=data.dtype))
    counts = raw.Maximum(
        x=raw.UnsortedSegmentSum(data=ones, segment_ids=flat, num_segments=num_segments),
        y=convert_to_tensor(1, data.dtype),
    )
    if data.shape.rank is None or ids.shape.rank is None:
        ones = raw.Fill(dims=raw.Reshape(tensor=raw.Rank(input=data) - raw.Rank(input=ids), shape=[1]), value=1)
        return raw.Reshape(tensor=counts, shape=raw.ConcatV2(values=[[-1], ones], axis=0))
    return raw.Reshape(tensor=counts, shape=[-1] + [1] * (data.shape.rank - ids.shape.rank))


@dispatchable
def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """The mean of the rows of each segment."""
    with scope(name, "UnsortedSegmentMean"):
        data = convert_to_tensor(data)
        total = raw.UnsortedSegmentSum(data=data, segment_ids=segment_ids, num_segments=num_segments)
        return total / _segment_counts(data, segment_ids, num_segments)


@dispatchable
def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sum of the rows of each segment over the root of their number."""
    with scope(name, "UnsortedSegmentSqrtN"):
        data = convert_to_tensor(data)
        total = raw.UnsortedSegmentSum(data=data, segment_ids=segment_ids, num_segments=num_segments)
        return total / raw.Sqrt(x=_segment_counts(data, segment_ids, num_segments))


@dispatchable
def trace(x, name=None):
    """The sum along the main diagonal of the last two axes."""
    with scope(name, "Trace") as name:
        from weft._src.ops.linalg_ops import diag_part

        return reduce_sum(diag_part(convert_to_tensor(x, name="x")), axis=[-1], name=name)


@dispatchable
def bincount(
    arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32, name=None, axis=None, binary_output=False
):
    """How often each integer is there (or the sum of its weights)."""
    from weft._src.ops import array_ops

    with scope(name, "bincount"):
        sparse = all(hasattr(arr, part) for part in ("indices", "values", "dense_shape"))
        if not sparse and weights is not None and axis is None and not binary_output:
            arr = convert_to_tensor(arr, name="arr")
            arr = arr if arr.dtype is dtypes.int32 else raw.Cast(x=arr, DstT=dtypes.int32)
            weights = convert_to_tensor(weights, name="weights")
            return raw.UnsortedSegmentSum(
                data=weights, segment_ids=arr, num_segments=_bins(arr, minlength, maxlength, dtypes.int32)
            )
        values = arr.values if sparse else convert_to_tensor(arr, name="arr")
        if values.dtype not in (dtypes.int32, dtypes.int64):
            values = raw.Cast(x=values, DstT=dtypes.int32)
        weights = (
            convert_to_tensor([], dtype)
            if weights is None
            else weights.values
            if sparse
            else convert_to_tensor(weights, name="weights")
        )
        size = _bins(values, minlength, maxlength, values.dtype)
        if axis not in (0, -1, None):
            raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
        if sparse:
            return raw.SparseBincount(
                indices=arr.indices,
                values=values,
                dense_shape=arr.dense_shape,
                size=size,
                weights=weights,
                binary_output=binary_output,
            )
        if axis in (None, 0):
            values = array_ops.reshape(values, [-1])
            weights = array_ops.reshape(weights, [-1])
        return raw.DenseBincount(input=values, size=size, weights=weights, binary_output=binary_output)


def _bins(values, minlength, maxlength, dtype):
    """One more than the greatest value, within the limits."""
    filled = raw.Cast(x=raw.Size(input=values) > 0, DstT=dtype)
    size = filled * (reduce_max(values) + 1)
    if minlength is not None:
        size = raw.Maximum(x=convert_to_tensor(minlength, dtype), y=size)
    if maxlength is not None:
        size = raw.Minimum(x=convert_to_tensor(maxlength, dtype), y=size)
    return size


@dispatchable
def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=dtypes.int32, name=None):
    """How often each label (row) was predicted as each class (column)."""
    from weft._src.ops import array_ops, check_ops, control
    from weft._src.ops.weights import remove_squeezable_dimensions

    with scope(name, "confusion_matrix") as name:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        labels = raw.Cast(x=labels, DstT=dtypes.int64)
        predictions = raw.Cast(x=predictions, DstT=dtypes.int64)
        labels = control.after(
            [check_ops.assert_non_negative(labels, message="`labels` contains negative values")], labels
        )
        predictions = control.after(
            [check_ops.assert_non_negative(predictions, message="`predictions` contains negative values")], predictions
        )
        if num_classes is None:
            num_classes = raw.Maximum(x=reduce_max(predictions), y=reduce_max(labels)) + 1
        else:
            num_classes = raw.Cast(x=num_classes, DstT=dtypes.int64)
            labels = control.after(
                [check_ops.assert_less(labels, num_classes, message="`labels` out of bound")], labels
            )
            predictions = control.after(
                [check_ops.assert_less(predictions, num_classes, message="`predictions` out of bound")], predictions
            )
        dtype = dtypes.as_dtype(dtype)
        if weights is not None:
            weights = convert_to_tensor(weights)
            predictions.shape.assert_is_compatible_with(weights.shape)
            values = raw.Cast(x=weights, DstT=dtype)
        else:
            values = array_ops.ones_like(predictions, dtype)
        places = array_ops.stack([labels, predictions], axis=1)
        return raw.ScatterNd(indices=places, updates=values, shape=array_ops.stack([num_classes, num_classes]))


@dispatchable
def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The bin of each value, of equal bins over a range."""
    with scope(name, "histogram_fixed_width_bins"):
        values = convert_to_tensor(values, name="values")
        flat = raw.Reshape(tensor=values, shape=[-1])
        low, high = _limits(value_range, values.dtype)
        if not values.dtype.is_floating:
            low, high, flat = (raw.Cast(x=v, DstT=dtypes.float64) for v in (low, high, flat))
        bins = raw.Cast(x=nbins, DstT=flat.dtype)
        places = raw.Floor(x=bins * ((flat - low) / (high - low)))
        from weft._src.ops.clip_ops import clip_by_value

        places = raw.Cast(
            x=clip_by_value(places, raw.Cast(x=0, DstT=flat.dtype), bins - 1), DstT=dtypes.as_dtype(dtype)
        )
        from weft._src.ops.array_ops import shape

        return raw.Reshape(tensor=places, shape=shape(values))


def _limits(value_range, dtype):
    value_range = convert_to_tensor(value_range, dtype)
    return value_range[0], value_range[1]


@dispatchable
def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """How many values are in each of equal bins over a range."""
    with scope(name, "histogram_fixed_width") as name:
        return raw.HistogramFixedWidth(values=values, value_range=value_range, nbins=nbins, dtype=dtype, name=name)
