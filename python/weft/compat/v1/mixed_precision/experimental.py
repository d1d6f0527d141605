"""tf.compat.v1.mixed_precision.experimental: loss scales."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.loss_scale: LossScale FixedLossScale DynamicLossScale
"""

__getattr__, __dir__ = _namespace(globals(), "mixed_precision.experimental", _MODULES)
