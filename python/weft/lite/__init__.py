"""tf.lite: TensorFlow Lite, which weft does not have."""

from weft._src.namespace import lazily as _lazily

_MODULES = """
unsupported_enums: OpsSet Optimize
"""

__getattr__, __dir__ = _lazily(globals(), "tf.lite", _MODULES, ["experimental"])
