"""tf.compat.v1.mixed_precision: loss scales."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.loss_scale: LossScale FixedLossScale DynamicLossScale
compat.v1.loss_scale_optimizer: MixedPrecisionLossScaleOptimizer enable_mixed_precision_graph_rewrite disable_mixed_precision_graph_rewrite
"""

__getattr__, __dir__ = _namespace(globals(), "mixed_precision", _MODULES, ["experimental"])
