"""tf.compat.v1.losses: losses with weights and reductions, collected in the graph."""

from weft import _weft
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import control_dependencies, name_scope_v1


class Reduction:
    """How the losses of a batch become one."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"

    @classmethod
    def all(cls):
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key):
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


def _math():
    from weft._src.ops import math_ops

    return math_ops


def compute_weighted_loss(
    losses, weights=1.0, scope=None, loss_collection="losses", reduction=Reduction.SUM_BY_NONZERO_WEIGHTS
):
    """The losses times their weights, reduced; the graph's collection gets the result."""
    Reduction.validate(reduction)
    from weft._src.ops import array_ops, creation_ops, weights as fits

    m = _math()
    with name_scope_v1(scope, "weighted_loss", (losses, weights)):
        op = fits.assert_broadcastable(weights, losses)
        with control_dependencies([] if op is None else [op]):
            losses = convert_to_tensor(losses)
            given = losses.dtype
            losses = m.cast(losses, dtypes.float32)
            weights = m.cast(weights, dtypes.float32)
            loss = m.multiply(losses, weights)
            if reduction != Reduction.NONE:
                loss = m.reduce_sum(loss)
                if reduction == Reduction.MEAN:
                    loss = _safe_mean(loss, m.reduce_sum(creation_ops.ones_like(losses) * weights))
                elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                    loss = _safe_mean(loss, fits.count_present(losses, weights))
                elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                    with name_scope_v1(None, "num_elements", [losses]) as name:
                        count = m.cast(array_ops.size(losses, name=name), dtypes.float32)
                    loss = _safe_mean(loss, count)
            loss = m.cast(loss, given)
            add_loss(loss, loss_collection)
            return loss


def _safe_mean(total, count):
    from weft._src.raw import raw

    return raw.DivNoNan(x=_math().reduce_sum(total), y=count, name="value")


def add_loss(loss, loss_collection="losses"):
    if loss_collection and _weft.in_graph():
        _weft.current_graph().add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection="losses"):
    from weft._src.compat.v1.variables import get_collection

    return get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    from weft._src.compat.v1.variables import get_collection

    return get_collection("regularization_losses", scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    losses = get_regularization_losses(scope)
    return _math().add_n(losses, name=name) if losses else convert_to_tensor(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """The sum of all losses of the graph."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    return _math().add_n(losses, name=name)


def _both(labels, predictions):
    m = _math()
    predictions = m.cast(convert_to_tensor(predictions), dtypes.float32)
    labels = m.cast(convert_to_tensor(labels), dtypes.float32)
    if not predictions.shape.is_compatible_with(labels.shape):
        raise ValueError(f"Shapes {predictions.shape} and {labels.shape} are incompatible")
    return labels, predictions


def _check_given(**values):
    for name, value in values.items():
        if value is None:
            raise ValueError(f"Argument `{name}` must not be None.")


def _loss(labels, predictions, what, default, weights, scope, loss_collection, reduction, compute):
    _check_given(**{"labels": labels, what: predictions})
    with name_scope_v1(scope, default) as inner:
        return compute_weighted_loss(compute(labels, predictions), weights, inner, loss_collection, reduction)


def absolute_difference(
    labels, predictions, weights=1.0, scope=None, loss_collection="losses", reduction=Reduction.SUM_BY_NONZERO_WEIGHTS
):
    def compute(a, b):
        a, b = _both(a, b)
        return _math().abs(b - a)

    return _loss(
        labels, predictions, "predictions", "absolute_difference", weights, scope, loss_collection, reduction, compute
    )


def mean_squared_error(
    labels, predictions, weights=1.0, scope=None, loss_collection="losses", reduction=Reduction.SUM_BY_NONZERO_WEIGHTS
):
    def compute(a, b):
        a, b = _both(a, b)
        return _math().squared_difference(b, a)

    return _loss(
        labels, predictions, "predictions", "mean_squared_error", weights, scope, loss_collection, reduction, compute
    )


def huber_loss(
    labels,
    predictions,
    weights=1.0,
    delta=1.0,
    scope=None,
    loss_collection="losses",
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    def compute(a, b):
        a, b = _both(a, b)
        error = _math().abs(b - a)
        near = _math().minimum(error, delta)
        return 0.5 * near * near + delta * (error - near)

    return _loss(labels, predictions, "predictions", "huber_loss", weights, scope, loss_collection, reduction, compute)


def hinge_loss(
    labels, logits, weights=1.0, scope=None, loss_collection="losses", reduction=Reduction.SUM_BY_NONZERO_WEIGHTS
):
    def compute(a, b):
        a, b = _both(a, b)
        return _math().maximum(1.0 - (2.0 * a - 1.0) * b, 0.0)

    return _loss(labels, logits, "logits", "hinge_loss", weights, scope, loss_collection, reduction, compute)


def log_loss(
    labels,
    predictions,
    weights=1.0,
    epsilon=1e-07,
    scope=None,
    loss_collection="losses",
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    def compute(a, b):
        a, b = _both(a, b)
        log = _math().log
        return -(a * log(b + epsilon)) - (1 - a) * log(1 - b + epsilon)

    return _loss(labels, predictions, "predictions", "log_loss", weights, scope, loss_collection, reduction, compute)


def cosine_distance(
    labels,
    predictions,
    axis=None,
    weights=1.0,
    scope=None,
    loss_collection="losses",
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim=None,
):
    def compute(a, b):
        a, b = _both(a, b)
        return 1 - _math().reduce_sum(a * b, axis=axis if dim is None else dim, keepdims=True)

    return _loss(
        labels, predictions, "predictions", "cosine_distance_loss", weights, scope, loss_collection, reduction, compute
    )


def sigmoid_cross_entropy(
    multi_class_labels,
    logits,
    weights=1.0,
    label_smoothing=0,
    scope=None,
    loss_collection="losses",
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    def compute(a, b):
        from weft._src.ops.nn_ops import sigmoid_cross_entropy_with_logits

        b = convert_to_tensor(b)
        a = _math().cast(convert_to_tensor(a), b.dtype)
        if label_smoothing > 0:
            a = a * (1 - label_smoothing) + 0.5 * label_smoothing
        return sigmoid_cross_entropy_with_logits(labels=a, logits=b, name="xentropy")

    return _loss(
        multi_class_labels,
        logits,
        "logits",
        "sigmoid_cross_entropy_loss",
        weights,
        scope,
        loss_collection,
        reduction,
        compute,
    )


def softmax_cross_entropy(
    onehot_labels,
    logits,
    weights=1.0,
    label_smoothing=0,
    scope=None,
    loss_collection="losses",
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    def compute(a, b):
        from weft._src.ops.nn_ops import softmax_cross_entropy_with_logits

        b = convert_to_tensor(b)
        a = _math().cast(convert_to_tensor(a), b.dtype)
        if label_smoothing > 0:
            a = a * (1 - label_smoothing) + label_smoothing / a.shape[1]
        return softmax_cross_entropy_with_logits(labels=a, logits=b, name="xentropy")

    return _loss(
        onehot_labels,
        logits,
        "logits",
        "softmax_cross_entropy_loss",
        weights,
        scope,
        loss_collection,
        reduction,
        compute,
    )


def sparse_softmax_cross_entropy(
    labels, logits, weights=1.0, scope=None, loss_collection="losses", reduction=Reduction.SUM_BY_NONZERO_WEIGHTS
):
    from weft._src.ops import weights as fits
    from weft._src.ops.nn_ops import sparse_softmax_cross_entropy_with_logits

    _check_given(labels=labels, logits=logits)
    with name_scope_v1(scope, "sparse_softmax_cross_entropy_loss", (logits, labels, weights)) as scope:
        labels, logits = fits.remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        if weights is not None:
            weights = fits.remove_squeezable_weights(labels, weights)
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection="losses"):
    """How far the differences between pairs of elements of an example are from what they should be."""
    from weft._src.ops import array_ops, creation_ops, weights as fits
    from weft._src.raw import raw

    _check_given(labels=labels, predictions=predictions)
    m = _math()
    with name_scope_v1(scope, "mean_pairwise_squared_error", (predictions, labels, weights)) as scope:
        weights, labels = m.cast(weights, dtypes.float32), m.cast(labels, dtypes.float32)
        op = fits.assert_broadcastable(weights, labels)
        with control_dependencies([] if op is None else [op]):
            predictions = m.cast(predictions, dtypes.float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            delta = m.subtract(predictions, labels)
            axes = m.range(1, array_ops.rank(delta))
            squares = m.reduce_sum(m.square(delta), axes, keepdims=True)
            count = fits.count_present(delta, weights, per_batch=True)
            one = 2.0 * raw.DivNoNan(x=squares, y=m.maximum(count - 1, 0), name="value")
            total = m.reduce_sum(delta, axes, keepdims=True)
            pairs = m.maximum(m.multiply(count, count - 1), 0)
            other = 2.0 * raw.DivNoNan(x=m.square(total), y=pairs, name="value")
            loss = m.reduce_sum(m.multiply(one - other, weights))
            present = m.reduce_sum(count) > 0
            value = raw.Select(condition=present, t=loss, e=creation_ops.zeros_like(loss), name="value")
            add_loss(value, loss_collection)
            return value
