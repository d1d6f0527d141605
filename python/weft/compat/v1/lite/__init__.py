"""tf.compat.v1.lite: TensorFlow Lite."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
unsupported_enums: OpsSet Optimize
"""

__getattr__, __dir__ = _namespace(globals(), "lite", _MODULES, ["constants", "experimental"])
