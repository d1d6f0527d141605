"""tf.compat.v1.lite.experimental: TensorFlow Lite."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
unsupported_enums: OpResolverType
"""

__getattr__, __dir__ = _namespace(globals(), "lite.experimental", _MODULES)
