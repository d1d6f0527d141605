"""Metrics of version 1 at thresholds of predictions: counts, precision and recall, the area under a curve."""

from weft._src.raw import raw
from weft._src.compat.v1.metrics import _check, _collect, metric_variable
from weft._src.compat.v1.variables import variable_scope
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.ops import array_ops, math_ops

_EPSILON = 1e-7


def _counts(labels, predictions, thresholds, weights, wanted):
    """{what: (running counts, counts after the update)}, a count for each threshold; what is of tp, fn, tn, fp."""
    predictions = array_ops.reshape(math_ops.cast(convert_to_tensor(predictions), dtypes.float32), [1, -1])
    labels = array_ops.reshape(math_ops.cast(convert_to_tensor(labels), dtypes.bool), [1, -1])
    limits = array_ops.reshape(convert_to_tensor(list(thresholds), dtypes.float32), [-1, 1])
    above = math_ops.greater(predictions, limits)
    labels = math_ops.logical_and(labels, math_ops.logical_or(above, math_ops.logical_not(above)))  # a row for each
    chosen = {
        "tp": lambda: math_ops.logical_and(labels, above),
        "fn": lambda: math_ops.logical_and(labels, math_ops.logical_not(above)),
        "tn": lambda: math_ops.logical_not(math_ops.logical_or(labels, above)),
        "fp": lambda: math_ops.logical_and(math_ops.logical_not(labels), above),
    }
    names = {"tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives"}
    if weights is not None:
        weights = math_ops.cast(convert_to_tensor(weights), dtypes.float32)
        weights = array_ops.reshape(
            array_ops.broadcast_to(weights, array_ops.shape(labels)[1:]) if weights.shape.rank == 0 else weights,
            [1, -1],
        )
    found = {}
    for what in wanted:
        total = metric_variable([len(thresholds)], dtypes.float32, name=names[what])
        now = math_ops.cast(chosen[what](), dtypes.float32)
        if weights is not None:
            now = now * weights
        found[what] = total.value(), total.assign_add(math_ops.reduce_sum(now, 1)).value()
    return found


def _at_thresholds(what, default):
    def metric(
        labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
    ):
        _check()
        with variable_scope(name, default):
            value, update = _counts(labels, predictions, thresholds, weights, [what])[what]
            return _collect(value, update, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = default + "_at_thresholds"
    metric.__doc__ = f"How many {default.replace('_', ' ')} there are above each threshold."
    return metric


true_positives_at_thresholds = _at_thresholds("tp", "true_positives")
false_negatives_at_thresholds = _at_thresholds("fn", "false_negatives")
true_negatives_at_thresholds = _at_thresholds("tn", "true_negatives")
false_positives_at_thresholds = _at_thresholds("fp", "false_positives")


def _both(counts, compute):
    """compute(count of each) before and after the update."""
    return [compute(**{what: pair[i] for what, pair in counts.items()}) for i in (0, 1)]


def precision_at_thresholds(
    labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    _check()
    with variable_scope(name, "precision_at_thresholds"):
        counts = _counts(labels, predictions, thresholds, weights, ["tp", "fp"])
        value, update = _both(counts, lambda tp, fp: raw.RealDiv(x=tp, y=_EPSILON + tp + fp))
        return _collect(value, update, metrics_collections, updates_collections)


def recall_at_thresholds(
    labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    _check()
    with variable_scope(name, "recall_at_thresholds"):
        counts = _counts(labels, predictions, thresholds, weights, ["tp", "fn"])
        value, update = _both(counts, lambda tp, fn: raw.RealDiv(x=tp, y=_EPSILON + tp + fn))
        return _collect(value, update, metrics_collections, updates_collections)


def _thresholds(number):
    inside = [(i + 1) * 1.0 / (number - 1) for i in range(number - 2)]
    return [0.0 - _EPSILON, *inside, 1.0 + _EPSILON]


def sensitivity_at_specificity(
    labels,
    predictions,
    specificity,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """The part of the positives that is found where this part of the negatives is."""
    _check()
    if specificity < 0 or specificity > 1:
        raise ValueError(f"`specificity` must be in the range [0, 1]. Currently, `specificity` got {specificity}.")

    def compute(tp, tn, fp, fn):
        specificities = raw.RealDiv(x=tn, y=tn + fp + _EPSILON)
        at = math_ops.cast(math_ops.argmin(math_ops.abs(specificities - specificity), 0), dtypes.int32)
        return math_ops.divide(tp[at], tp[at] + fn[at] + _EPSILON)

    with variable_scope(name, "sensitivity_at_specificity"):
        counts = _counts(labels, predictions, _thresholds(num_thresholds), weights, ["tp", "fn", "tn", "fp"])
        value, update = _both(counts, compute)
        return _collect(value, update, metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels,
    predictions,
    sensitivity,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """The part of the negatives that is found where this part of the positives is."""
    _check()
    if sensitivity < 0 or sensitivity > 1:
        raise ValueError(f"`sensitivity` must be in the range [0, 1]. Currently, `sensitivity` got {sensitivity}.")

    def compute(tp, tn, fp, fn):
        sensitivities = raw.RealDiv(x=tp, y=tp + fn + _EPSILON)
        far = math_ops.abs(sensitivities - sensitivity)
        # The last of the thresholds that are as near.
        near = math_ops.cast(math_ops.less_equal(far, math_ops.reduce_min(far)), dtypes.int64)
        numbers = math_ops.cast(math_ops.range(array_ops.size(near)), dtypes.int64)
        at = math_ops.cast(math_ops.argmax(near * (numbers + 1), 0), dtypes.int32)
        return math_ops.divide(tn[at], tn[at] + fp[at] + _EPSILON)

    with variable_scope(name, "specificity_at_sensitivity"):
        counts = _counts(labels, predictions, _thresholds(num_thresholds), weights, ["tp", "fn", "tn", "fp"])
        value, update = _both(counts, compute)
        return _collect(value, update, metrics_collections, updates_collections)


def auc(
    labels,
    predictions,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    curve="ROC",
    name=None,
    summation_method="trapezoidal",
    thresholds=None,
):
    """The area under the curve of hits over false alarms (ROC) or of precision over recall (PR)."""
    _check()
    if curve not in ("ROC", "PR"):
        raise ValueError(f"`curve` must be either ROC or PR. Currently, `curve` is {curve}.")
    if thresholds is None:
        thresholds = _thresholds(num_thresholds)
    else:
        thresholds = [0.0 - _EPSILON, *sorted(thresholds), 1.0 + _EPSILON]

    def interpolated(tp, fp, fn):
        d_tp, p = tp[:-1] - tp[1:], tp + fp
        slope = math_ops.divide_no_nan(d_tp, math_ops.maximum(p[:-1] - p[1:], 0))
        intercept = tp[1:] - slope * p[1:]
        both = math_ops.logical_and(p[:-1] > 0, p[1:] > 0)
        ratio = array_ops.where(
            both, math_ops.divide_no_nan(p[:-1], math_ops.maximum(p[1:], 0)), array_ops.ones_like(p[1:])
        )
        parts = slope * (d_tp + intercept * math_ops.log(ratio))
        return math_ops.reduce_sum(math_ops.divide_no_nan(parts, math_ops.maximum(tp[1:] + fn[1:], 0)))

    def compute(tp, fn, tn, fp):
        if curve == "PR" and summation_method == "careful_interpolation":
            return interpolated(tp, fp, fn)
        recall = math_ops.divide(tp + _EPSILON, tp + fn + _EPSILON)
        if curve == "ROC":
            x, y = math_ops.divide(fp, fp + tn + _EPSILON), recall
        else:
            x, y = recall, math_ops.divide(tp + _EPSILON, tp + fp + _EPSILON)
        steps = x[:-1] - x[1:]
        if summation_method in ("trapezoidal", "careful_interpolation"):
            return math_ops.reduce_sum(steps * (y[:-1] + y[1:]) / 2.0)
        if summation_method == "minoring":
            return math_ops.reduce_sum(steps * math_ops.minimum(y[:-1], y[1:]))
        if summation_method == "majoring":
            return math_ops.reduce_sum(steps * math_ops.maximum(y[:-1], y[1:]))
        raise ValueError(f"Invalid summation_method: {summation_method}")

    with variable_scope(name, "auc"):
        counts = _counts(labels, predictions, thresholds, weights, ["tp", "fn", "tn", "fp"])
        value, update = _both(counts, compute)
        return _collect(value, update, metrics_collections, updates_collections)
