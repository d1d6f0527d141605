"""Loss scales of version 1: a number that losses are multiplied with, so that small gradients are not lost in half precision."""

from weft import _weft
from weft._src.framework import dtypes, nest
from weft._src.framework.convert import convert_to_tensor
from weft._src.trackable.base import Trackable
from weft._src.trackable.variable import Variable


class LossScale(Trackable):
    """A scale that may change with the gradients that come."""

    def __init__(self):
        self._weights = {}

    def __call__(self):
        raise NotImplementedError

    def update(self, grads):
        """(op that updates the scale, whether the gradients are to be applied)"""
        raise NotImplementedError

    def get_config(self):
        raise NotImplementedError

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def _add_weight(self, name, initial_value, dtype=None):
        made = Variable(initial_value, trainable=False, name=name, dtype=dtype)
        self._weights[name] = made
        self._handle_deferred_dependencies(name, made)
        return made

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {**super()._trackable_children(save_type, **kwargs), **self._weights}


class FixedLossScale(LossScale):
    """A scale that stays."""

    def __init__(self, loss_scale_value):
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError(f"loss_scale_value must be a Python int or float. Received {type(loss_scale_value)}.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self):
        return convert_to_tensor(self._loss_scale_value)

    def update(self, grads):
        from weft._src.raw import raw

        del grads
        return raw.NoOp() if _weft.in_graph() else None, True

    def __repr__(self):
        return f"FixedLossScale({self._loss_scale_value})"

    def get_config(self):
        return {"loss_scale_value": self._loss_scale_value}


def _all_finite(grads):
    """Whether no gradient has an infinity or NaN."""
    from weft._src.ops import math_ops

    each = [math_ops.reduce_all(math_ops.is_finite(g)) for g in nest.flatten(grads) if g is not None]
    return math_ops.reduce_all(each)


class DynamicLossScale(LossScale):
    """A scale that falls when gradients are not finite, and rises after a number of steps in which they were."""

    def __init__(self, initial_loss_scale=2**15, increment_period=2000, multiplier=2.0):
        super().__init__()
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period, self._multiplier = int(increment_period), float(multiplier)
        self._current_loss_scale = self._add_weight("current_loss_scale", self._initial_loss_scale, dtypes.float32)
        self._num_good_steps = self._add_weight("good_steps", 0, dtypes.int64)

    @property
    def initial_loss_scale(self):
        return self._initial_loss_scale

    @property
    def increment_period(self):
        return self._increment_period

    @property
    def multiplier(self):
        return self._multiplier

    def __call__(self):
        return convert_to_tensor(self._current_loss_scale)

    def update(self, grads):
        """Updates the scale by whether the gradients are finite."""
        from weft._src.function.control_flow import cond, group
        from weft._src.ops import array_ops, math_ops

        finite = _all_finite(grads)

        def good():
            def raised():
                higher = self._current_loss_scale * self._multiplier
                new = array_ops.where(math_ops.is_finite(higher), higher, self._current_loss_scale.value())
                return group(self._current_loss_scale.assign(new), self._num_good_steps.assign(0))

            return cond(
                self._num_good_steps.value() + 1 >= self._increment_period,
                raised,
                lambda: group(self._num_good_steps.assign_add(1)),
            )

        def bad():
            lower = math_ops.maximum(self._current_loss_scale / self._multiplier, 1)
            return group(self._num_good_steps.assign(0), self._current_loss_scale.assign(lower))

        return cond(finite, good, bad), finite

    def __repr__(self):
        if not _weft.in_graph():
            return (
                f"DynamicLossScale(current_loss_scale={self._current_loss_scale.numpy()}, num_good_steps={self._num_good_steps.numpy()}, "
                f"initial_loss_scale={self._initial_loss_scale}, increment_period={self._increment_period}, multiplier={self._multiplier})"
            )
        return (
            f"DynamicLossScale(initial_loss_scale={self._initial_loss_scale}, increment_period={self._increment_period}, "
            f"multiplier={self._multiplier})"
        )

    def get_config(self):
        return {
            "initial_loss_scale": self.initial_loss_scale,
            "increment_period": self.increment_period,
            "multiplier": self.multiplier,
        }


def get(identifier):
    """A scale for a number or "dynamic"."""
    if isinstance(identifier, (int, float)):
        return FixedLossScale(identifier)
    if identifier == "dynamic":
        return DynamicLossScale()
    if isinstance(identifier, LossScale) or identifier is None:
        return identifier
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")
