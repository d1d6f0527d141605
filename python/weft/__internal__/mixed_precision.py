"""tf.__internal__.mixed_precision"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
internal.mixed_precision: register_loss_scale_wrapper
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.mixed_precision", _MODULES, ())
