"""Running means of version 1 that are not of one value: by class, by element, of distances."""

from weft._src.raw import raw
from weft._src.compat.v1.metrics import _check, _collect, _counted, mean, metric_variable
from weft._src.compat.v1.variables import variable_scope
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.ops import array_ops, math_ops


def _floats(*values):
    return [math_ops.cast(convert_to_tensor(v), dtypes.float32) for v in values]


def true_negatives(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """How often both are false."""
    _check()
    labels, predictions = (math_ops.cast(convert_to_tensor(t), dtypes.bool) for t in (labels, predictions))
    return _counted(
        math_ops.logical_not(math_ops.logical_or(labels, predictions)),
        weights,
        metrics_collections,
        updates_collections,
        name,
        "true_negatives",
    )


def percentage_below(values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The part of the values that is below a threshold."""
    _check()
    below = math_ops.cast(math_ops.less(values, threshold), dtypes.float32)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


def mean_relative_error(
    labels, predictions, normalizer, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean of |labels - predictions| / normalizer, which is 0 where the normalizer is."""
    _check()
    labels, predictions, normalizer = _floats(labels, predictions, normalizer)
    errors = math_ops.divide_no_nan(math_ops.abs(labels - predictions), normalizer)
    errors = array_ops.where(math_ops.equal(normalizer, 0.0), array_ops.zeros_like(labels), errors)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_cosine_distance(
    labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """1 - the mean of the cosines between vectors of length 1."""
    _check()
    labels, predictions = _floats(labels, predictions)
    cosines = math_ops.reduce_sum(labels * predictions, [dim], keepdims=True)
    value, update = mean(cosines, weights, None, None, name or "mean_cosine_distance")
    return _collect(1.0 - value, 1.0 - update, metrics_collections, updates_collections)


def mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean of each element over all calls."""
    _check()
    with variable_scope(name, "mean"):
        values = _floats(values)[0]
        total = metric_variable(values.shape, dtypes.float32, name="total_tensor")
        count = metric_variable(values.shape, dtypes.float32, name="count_tensor")
        number = array_ops.ones_like(values)
        if weights is not None:
            weights = number * _floats(weights)[0]
            values, number = values * weights, weights
        new_total, new_count = total.assign_add(values).value(), count.assign_add(number).value()
        value = raw.DivNoNan(x=total.value(), y=count.value(), name="value")
        update = raw.DivNoNan(x=new_total, y=new_count, name="update_op")
        return _collect(value, update, metrics_collections, updates_collections)


def _confusion(labels, predictions, num_classes, weights):
    """A running confusion matrix, before and after the update."""
    total = metric_variable([num_classes, num_classes], dtypes.float64, name="total_confusion_matrix")
    labels, predictions = (
        array_ops.reshape(math_ops.cast(convert_to_tensor(t), dtypes.int64), [-1]) for t in (labels, predictions)
    )
    if weights is not None:
        weights = array_ops.reshape(math_ops.cast(convert_to_tensor(weights), dtypes.float64), [-1])
    now = math_ops.confusion_matrix(labels, predictions, num_classes, weights=weights, dtype=dtypes.float64)
    return total, total.assign_add(now).value()


def mean_iou(
    labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean over classes of intersection over union."""
    _check()

    def of(matrix):
        rows = math_ops.cast(math_ops.reduce_sum(matrix, 0), dtypes.float32)
        columns = math_ops.cast(math_ops.reduce_sum(matrix, 1), dtypes.float32)
        hits = math_ops.cast(raw.MatrixDiagPart(input=matrix), dtypes.float32)
        union = rows + columns - hits
        present = math_ops.reduce_sum(math_ops.cast(math_ops.not_equal(union, 0), dtypes.float32))
        union = array_ops.where(union > 0, union, array_ops.ones_like(union))
        iou = hits / union
        return array_ops.where(present > 0, math_ops.divide_no_nan(math_ops.reduce_sum(iou), present), 0.0)

    with variable_scope(name, "mean_iou"):
        total, updated = _confusion(labels, predictions, num_classes, weights)
        return _collect(
            array_ops.identity(of(total.value()), name="mean_iou"), updated, metrics_collections, updates_collections
        )


def mean_per_class_accuracy(
    labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean over classes of the accuracy of each."""
    _check()
    with variable_scope(name, "mean_accuracy"):
        labels = array_ops.reshape(math_ops.cast(convert_to_tensor(labels), dtypes.int64), [-1])
        predictions = array_ops.reshape(math_ops.cast(convert_to_tensor(predictions), dtypes.int64), [-1])
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        ones = array_ops.ones([array_ops.size(labels)], dtypes.float32)
        right = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = array_ops.reshape(_floats(weights)[0], [-1])
            right, ones = right * weights, ones * weights
        counted = count.scatter_add(_slices(ones, labels)).value()
        summed = total.scatter_add(_slices(right, labels)).value()

        def of(total, count):
            return math_ops.reduce_mean(math_ops.divide_no_nan(total, count))

        value = array_ops.identity(of(total.value(), count.value()), name="mean_accuracy")
        update = array_ops.identity(math_ops.divide_no_nan(summed, counted), name="update_op")
        return _collect(value, update, metrics_collections, updates_collections)


def _slices(values, indices):
    from weft._src.framework.indexed_slices import IndexedSlices

    return IndexedSlices(values, indices)
