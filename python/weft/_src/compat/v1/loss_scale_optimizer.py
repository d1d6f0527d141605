"""An optimizer of version 1 around another, which scales the loss and takes the scale out of the gradients again."""

from weft._src.compat.v1 import loss_scale as loss_scales
from weft._src.compat.v1.train.optimizers import Optimizer
from weft._src.framework.indexed_slices import IndexedSlices


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """Applies gradients of a scaled loss, and none that are not finite."""

    def __init__(self, opt, loss_scale):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}.')
        super().__init__(False, opt._name)
        self._optimizer, self._loss_scale = opt, loss_scales.get(loss_scale)
        if self._loss_scale is None:
            raise ValueError("loss_scale cannot be None")

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        found = super()._trackable_children(save_type, **kwargs)
        return {**found, "base_optimizer": self._optimizer, "loss_scale": self._loss_scale}

    def _scaled(self, loss):
        if callable(loss):
            return lambda: self._scaled(loss())
        from weft._src.ops import math_ops

        return loss * math_ops.cast(self._loss_scale(), loss.dtype)

    def _unscaled(self, gradient):
        if gradient is None:
            return None
        from weft._src.ops import math_ops

        def divided(values):
            return values / math_ops.cast(self._loss_scale(), values.dtype)

        if isinstance(gradient, IndexedSlices):
            return IndexedSlices(divided(gradient.values), gradient.indices, gradient.dense_shape)
        return divided(gradient)

    def compute_gradients(
        self,
        loss,
        var_list=None,
        gate_gradients=Optimizer.GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        grad_loss=None,
    ):
        pairs = self._optimizer.compute_gradients(
            self._scaled(loss), var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        return [(self._unscaled(g), v) for g, v in pairs]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        from weft._src.function.control_flow import cond, group, no_op

        pairs = tuple(grads_and_vars)
        updated, finite = self._loss_scale.update([g for g, _ in pairs])
        if finite is True:
            applied = self._optimizer.apply_gradients(pairs, global_step, name)
        else:
            applied = cond(
                finite, lambda: group(self._optimizer.apply_gradients(pairs, global_step, name)), lambda: group(no_op())
            )
        return group(*[op for op in (updated, applied) if op is not None])

    def get_slot_names(self):
        return self._optimizer.get_slot_names()

    def get_slot(self, var, name):
        return self._optimizer.get_slot(var, name)

    def variables(self):
        return self._optimizer.variables()


def enable_mixed_precision_graph_rewrite(opt, loss_scale="dynamic"):
    """Puts a loss scale around an optimizer. TensorFlow also rewrites graphs to half precision on some GPUs, which changes nothing on a CPU."""
    return MixedPrecisionLossScaleOptimizer(opt, loss_scale)


def disable_mixed_precision_graph_rewrite():
    """Graphs are not rewritten."""
