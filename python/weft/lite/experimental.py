"""tf.lite.experimental: TensorFlow Lite."""

from weft._src.namespace import lazily as _lazily

_MODULES = """
unsupported_enums: OpResolverType
"""

__getattr__, __dir__ = _lazily(globals(), "tf.lite.experimental", _MODULES)
