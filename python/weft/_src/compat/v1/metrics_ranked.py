"""Metrics of version 1 of the k best predictions: precision and recall."""

from weft._src.raw import raw
from weft._src.compat.v1.metrics import _check, _collect, metric_variable
from weft._src.compat.v1.variables import variable_scope
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.ops import array_ops, math_ops
from weft._src.ops.sparse_tensor import SparseTensor


def _dense(labels):
    """Labels as a tensor whose rows are padded with -1."""
    if isinstance(labels, SparseTensor):
        from weft._src.ops.sparse_ops import to_dense

        values = SparseTensor(labels.indices, math_ops.cast(labels.values, dtypes.int64), labels.dense_shape)
        return to_dense(values, default_value=-1)
    return math_ops.cast(convert_to_tensor(labels), dtypes.int64)


def _with_axis(labels, predictions):
    labels = _dense(labels)
    return array_ops.expand_dims(labels, -1) if labels.shape.rank == predictions.shape.rank - 1 else labels


def _top(predictions, k):
    return math_ops.cast(raw.TopKV2(input=predictions, k=k)[1], dtypes.int64)


def _hits(labels, top):
    """[..., k]: whether each prediction is one of its labels."""
    return math_ops.reduce_any(math_ops.equal(array_ops.expand_dims(top, -1), array_ops.expand_dims(labels, -2)), -1)


def _per_example(values, weights):
    """The sum over the last axis, weighted."""
    total = math_ops.reduce_sum(math_ops.cast(values, dtypes.float64), -1)
    if weights is not None:
        total = total * math_ops.cast(convert_to_tensor(weights), dtypes.float64)
    return math_ops.reduce_sum(total)


def _running(name, now):
    total = metric_variable([], dtypes.float64, name=name)
    return total.value(), total.assign_add(now).value()


def _ratio(hits, others, metrics_collections, updates_collections):
    (a, new_a), (b, new_b) = hits, others
    value = raw.DivNoNan(x=a, y=a + b)
    update = raw.DivNoNan(x=new_a, y=new_a + new_b)
    return _collect(value, update, metrics_collections, updates_collections)


def _of_class(top, labels, class_id):
    """Predictions and labels of one class alone; all others are unlike each other."""
    if class_id is None:
        return top, labels
    return (
        array_ops.where(math_ops.equal(top, class_id), top, -2),
        array_ops.where(math_ops.equal(labels, class_id), labels, -1),
    )


def precision_at_top_k(
    labels,
    predictions_idx,
    k=None,
    class_id=None,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """Which part of the predictions are labels."""
    _check()
    with variable_scope(name, f"precision_at_{k}" if class_id is None else f"precision_at_{k}_class{class_id}"):
        top = math_ops.cast(convert_to_tensor(predictions_idx), dtypes.int64)
        top, labels = _of_class(top, _with_axis(labels, top), class_id)
        hits = _hits(labels, top)
        misses = math_ops.logical_and(math_ops.logical_not(hits), math_ops.not_equal(top, -2))
        return _ratio(
            _running("true_positive_at_k", _per_example(hits, weights)),
            _running("false_positive_at_k", _per_example(misses, weights)),
            metrics_collections,
            updates_collections,
        )


def precision_at_k(
    labels, predictions, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The same of the k greatest predictions."""
    _check()
    top = _top(convert_to_tensor(predictions), k)
    return precision_at_top_k(labels, top, k, class_id, weights, metrics_collections, updates_collections, name)


def sparse_precision_at_k(
    labels, predictions, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The former name of precision_at_k."""
    return precision_at_k(labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name)


def recall_at_top_k(
    labels,
    predictions_idx,
    k=None,
    class_id=None,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """Which part of the labels is predicted."""
    _check()
    with variable_scope(name, f"recall_at_{k}" if class_id is None else f"recall_at_{k}_class{class_id}"):
        top = math_ops.cast(convert_to_tensor(predictions_idx), dtypes.int64)
        top, labels = _of_class(top, _with_axis(labels, top), class_id)
        found = _hits(top, labels)
        lost = math_ops.logical_and(math_ops.logical_not(found), math_ops.not_equal(labels, -1))
        return _ratio(
            _running("true_positive_at_k", _per_example(found, weights)),
            _running("false_negative_at_k", _per_example(lost, weights)),
            metrics_collections,
            updates_collections,
        )


def recall_at_k(
    labels, predictions, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The same of the k greatest predictions."""
    _check()
    top = _top(convert_to_tensor(predictions), k)
    return recall_at_top_k(labels, top, k, class_id, weights, metrics_collections, updates_collections, name)


def average_precision_at_k(
    labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean over examples of the precisions at each hit among the k greatest."""
    _check()
    with variable_scope(name, f"average_precision_at_{k}"):
        predictions = convert_to_tensor(predictions)
        top = _top(predictions, k)
        labels = _with_axis(labels, predictions)
        hits = math_ops.cast(_hits(labels, top), dtypes.float64)
        places = math_ops.cast(math_ops.range(1, k + 1), dtypes.float64)
        precisions = hits * math_ops.cumsum(hits, axis=-1) / places
        relevant = math_ops.reduce_sum(math_ops.cast(math_ops.greater_equal(labels, 0), dtypes.float64), -1)
        relevant = math_ops.minimum(relevant, math_ops.cast(k, dtypes.float64))
        average = raw.DivNoNan(x=math_ops.reduce_sum(precisions, -1), y=relevant)
        number = array_ops.ones_like(average)
        if weights is not None:
            number = number * math_ops.cast(convert_to_tensor(weights), dtypes.float64)
            average = average * number
        (total, new_total), (most, new_most) = (
            _running("total", math_ops.reduce_sum(average)),
            _running("max", math_ops.reduce_sum(number)),
        )
        return _collect(
            raw.DivNoNan(x=total, y=most),
            raw.DivNoNan(x=new_total, y=new_most),
            metrics_collections,
            updates_collections,
        )


def sparse_average_precision_at_k(
    labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The former name of average_precision_at_k."""
    return average_precision_at_k(labels, predictions, k, weights, metrics_collections, updates_collections, name)
