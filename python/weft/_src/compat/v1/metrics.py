"""tf.compat.v1.metrics: running values in local variables, with an op that updates them."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import control_dependencies


def metric_variable(shape, dtype, validate_shape=True, name=None):
    """A local variable that starts at zero."""
    from weft._src.compat.v1.initializers import Zeros
    from weft._src.trackable.variable import Variable

    return Variable(
        lambda: Zeros()(shape, dtypes.as_dtype(dtype)),
        trainable=False,
        collections=["local_variables", "metric_variables"],
        name=name,
    )


def _check():
    if not _weft.in_graph():
        raise RuntimeError("tf.metrics are not supported when eager execution is enabled.")


def _collect(value, update, metrics_collections, updates_collections):
    graph = _weft.current_graph()
    if metrics_collections:
        graph.add_to_collections(metrics_collections, value)
    if updates_collections:
        graph.add_to_collections(updates_collections, update)
    return value, update


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean of all values so far."""
    from weft._src.compat.v1.variables import variable_scope
    from weft._src.ops import array_ops, math_ops

    _check()
    with variable_scope(name, "mean"):
        values = math_ops.cast(convert_to_tensor(values), dtypes.float32)
        total, count = (
            metric_variable([], dtypes.float32, name="total"),
            metric_variable([], dtypes.float32, name="count"),
        )
        if weights is None:
            number = math_ops.cast(array_ops.size(values), dtypes.float32)
        else:
            weights = array_ops.ones_like(values) * math_ops.cast(convert_to_tensor(weights), dtypes.float32)
            values, number = values * weights, math_ops.reduce_sum(weights)
        new_total = total.assign_add(math_ops.reduce_sum(values)).value()
        with control_dependencies([values]):
            new_count = count.assign_add(number).value()
        value = raw.DivNoNan(x=total.value(), y=count.value(), name="value")
        update = raw.DivNoNan(x=new_total, y=new_count, name="update_op")
        return _collect(value, update, metrics_collections, updates_collections)


def accuracy(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """How often predictions are the labels."""
    from weft._src.ops import math_ops

    _check()
    labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
    if labels.dtype != predictions.dtype:
        predictions = math_ops.cast(predictions, labels.dtype)
    return mean(
        math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32),
        weights,
        metrics_collections,
        updates_collections,
        name or "accuracy",
    )


def mean_squared_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    from weft._src.ops import math_ops

    _check()
    labels, predictions = (math_ops.cast(convert_to_tensor(t), dtypes.float32) for t in (labels, predictions))
    return mean(
        math_ops.squared_difference(labels, predictions),
        weights,
        metrics_collections,
        updates_collections,
        name or "mean_squared_error",
    )


def mean_absolute_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    from weft._src.ops import math_ops

    _check()
    labels, predictions = (math_ops.cast(convert_to_tensor(t), dtypes.float32) for t in (labels, predictions))
    return mean(
        math_ops.abs(predictions - labels),
        weights,
        metrics_collections,
        updates_collections,
        name or "mean_absolute_error",
    )


def root_mean_squared_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return _collect(raw.Sqrt(x=value), raw.Sqrt(x=update), metrics_collections, updates_collections)


def _counted(selected, weights, metrics_collections, updates_collections, name, default):
    from weft._src.compat.v1.variables import variable_scope
    from weft._src.ops import math_ops

    with variable_scope(name, default):
        values = math_ops.cast(selected, dtypes.float32)
        if weights is not None:
            values = values * math_ops.cast(convert_to_tensor(weights), dtypes.float32)
        count = metric_variable([], dtypes.float32, name="count")
        update = count.assign_add(math_ops.reduce_sum(values)).value()
        return _collect(count.value(), update, metrics_collections, updates_collections)


def true_positives(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    from weft._src.ops import math_ops

    _check()
    labels, predictions = (math_ops.cast(convert_to_tensor(t), dtypes.bool) for t in (labels, predictions))
    return _counted(
        math_ops.logical_and(labels, predictions),
        weights,
        metrics_collections,
        updates_collections,
        name,
        "true_positives",
    )


def false_positives(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    from weft._src.ops import math_ops

    _check()
    labels, predictions = (math_ops.cast(convert_to_tensor(t), dtypes.bool) for t in (labels, predictions))
    return _counted(
        math_ops.logical_and(math_ops.logical_not(labels), predictions),
        weights,
        metrics_collections,
        updates_collections,
        name,
        "false_positives",
    )


def false_negatives(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    from weft._src.ops import math_ops

    _check()
    labels, predictions = (math_ops.cast(convert_to_tensor(t), dtypes.bool) for t in (labels, predictions))
    return _counted(
        math_ops.logical_and(labels, math_ops.logical_not(predictions)),
        weights,
        metrics_collections,
        updates_collections,
        name,
        "false_negatives",
    )


def _ratio(parts, default, labels, predictions, weights, metrics_collections, updates_collections, name):
    from weft._src.compat.v1.variables import variable_scope

    with variable_scope(name, default):
        (a, new_a), (b, new_b) = (part(labels, predictions, weights) for part in parts)
        return _collect(
            raw.DivNoNan(x=a, y=a + b), raw.DivNoNan(x=new_a, y=new_a + new_b), metrics_collections, updates_collections
        )


def precision(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    return _ratio(
        (true_positives, false_positives),
        "precision",
        labels,
        predictions,
        weights,
        metrics_collections,
        updates_collections,
        name,
    )


def recall(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    return _ratio(
        (true_positives, false_negatives),
        "recall",
        labels,
        predictions,
        weights,
        metrics_collections,
        updates_collections,
        name,
    )
