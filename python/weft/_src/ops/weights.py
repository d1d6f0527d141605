"""Labels, predictions and their weights, for losses and metrics: which shapes go together."""

import numpy as np

from weft._src.framework import dtypes
from weft._src.framework import graph
from weft._src.framework.convert import convert_to_tensor
from weft._src.raw import raw


def _without_last(value):
    return raw.Squeeze(input=value, squeeze_dims=[-1])


def _may_lose_last(shape):
    return shape.rank is None or shape.rank > 0 and shape[-1] in (1, None)


def _without_last_where(difference, wanted, value):
    """The value, without its last axis where the ranks, known when it runs, differ so."""
    from weft._src.function.control_flow import cond

    return cond(raw.Equal(x=wanted, y=difference), lambda: _without_last(value), lambda: raw.Identity(input=value))


def remove_squeezable_dimensions(labels, predictions, expected_rank_diff=0, name=None):
    """A last axis of size 1 goes away from the one of the two that has an axis more than expected."""
    with graph.name_scope_v1(name, "remove_squeezable_dimensions", [labels, predictions]):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        known = labels.shape.rank is not None and predictions.shape.rank is not None
        difference = (
            predictions.shape.rank - labels.shape.rank
            if known
            else raw.Sub(x=raw.Rank(input=predictions), y=raw.Rank(input=labels))
        )
        if _may_lose_last(predictions.shape):
            if not known:
                predictions = _without_last_where(difference, expected_rank_diff + 1, predictions)
            elif difference == expected_rank_diff + 1:
                predictions = _without_last(predictions)
        if _may_lose_last(labels.shape):
            if not known:
                labels = _without_last_where(difference, expected_rank_diff - 1, labels)
            elif difference == expected_rank_diff - 1:
                labels = _without_last(labels)
        return labels, predictions


def remove_squeezable_weights(labels, weights):
    """Weights without a last axis that labels do not have."""
    weights = convert_to_tensor(weights)
    if labels.shape.rank is not None and weights.shape.rank is not None:
        return _without_last(weights) if weights.shape.rank - labels.shape.rank == 1 else weights
    if not _may_lose_last(weights.shape) or weights.shape.rank == 0:
        return weights
    return _without_last_where(raw.Sub(x=raw.Rank(input=weights), y=raw.Rank(input=labels)), 1, weights)


_FAILED = "weights can not be broadcast to values."


def assert_broadcastable(weights, values):
    """An op that fails unless weights are a scalar, or have the rank of values and sizes of 1 or theirs."""
    with graph.name_scope_v1(None, "assert_broadcastable", (weights, values)):
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, name="weights")
        have, want = weights.shape, values.shape
        if have.rank == 0:
            return raw.NoOp(name="static_scalar_check_success")
        if have.rank is not None and want.rank is not None:
            given = f"Received weights={weights}, values={values}"
            if have.rank != want.rank:
                raise ValueError(
                    f"{_FAILED} values.rank={want.rank}. weights.rank={have.rank}. values.shape={want}. weights.shape={have}. {given}"
                )
            if have.is_fully_defined() and want.is_fully_defined():
                for i, (a, b) in enumerate(zip(have, want)):
                    if a not in (1, b):
                        raise ValueError(
                            f"{_FAILED} Mismatch at dim {i}. values.shape={np.array(want)}, weights.shape={np.array(have)}. {given}"
                        )
                return raw.NoOp(name="static_dims_check_success")
        return _assert_dynamic(weights, values)


def _assert_dynamic(weights, values):
    from weft._src.function.control_flow import Assert, cond
    from weft._src.ops import reduction_ops

    shapes = raw.Shape(input=weights), raw.Shape(input=values)
    ranks = raw.Rank(input=weights), raw.Rank(input=values)
    scalar = raw.Equal(x=0, y=ranks[0])

    def fit():
        same = raw.LogicalOr(x=raw.Equal(x=shapes[0], y=1), y=raw.Equal(x=shapes[0], y=shapes[1]))
        return reduction_ops.reduce_all(same)

    def rank_and_sizes():
        return cond(raw.Equal(x=ranks[0], y=ranks[1]), fit, lambda: convert_to_tensor(False))

    valid = cond(scalar, lambda: raw.Identity(input=scalar), rank_and_sizes, name="is_valid_shape")
    names = [getattr(v, "name", "") for v in (weights, values)] if not hasattr(weights, "numpy") else ["", ""]
    data = [_FAILED, "weights.shape=", names[0], shapes[0], "values.shape=", names[1], shapes[1], "is_scalar=", scalar]
    return Assert(valid, data)


def broadcast_weights(weights, values):
    """weights as large as values: each of its dimensions is 1 or that of values."""
    with graph.name_scope_v1(None, "broadcast_weights", (weights, values)) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
        if weights.shape.is_fully_defined() and values.shape.is_fully_defined() and weights.shape == values.shape:
            return weights
        from weft._src.ops import creation_ops

        with graph.control_dependencies(_ops(assert_broadcastable(weights, values))):
            return raw.Mul(x=weights, y=creation_ops.ones_like(values), name=scope)


def _ops(op):
    return [] if op is None else [op]


def count_present(values, weights, per_batch=False):
    """How many values have weights other than 0; of each item of a batch, with per_batch."""
    from weft import _weft
    from weft._src.ops import array_ops, creation_ops, math_ops, reduction_ops

    if not _weft.in_graph() and weights.shape.rank == 0 and bool(weights != 0.0):
        return math_ops.cast(array_ops.size(values), dtypes.float32)  # also with per_batch: as TensorFlow has it
    with graph.name_scope_v1(None, "num_present", (values, weights)) as scope:
        weights = math_ops.cast(weights, dtypes.float32)
        none = raw.Equal(x=weights, y=0.0)
        present = raw.Select(condition=none, t=creation_ops.zeros_like(weights), e=creation_ops.ones_like(weights))
        present = broadcast_weights(present, values)
        if per_batch:
            axes = math_ops.range(1, array_ops.rank(present))
            return reduction_ops.reduce_sum(present, axes, keepdims=True, name=scope)
        return reduction_ops.reduce_sum(present, name=scope)
