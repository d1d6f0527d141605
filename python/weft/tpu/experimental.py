"""tf.tpu.experimental: TPUs."""

from weft._src.namespace import lazily as _lazily

_MODULES = """
unsupported_enums: DeviceOrderMode
"""

__getattr__, __dir__ = _lazily(globals(), "tf.tpu.experimental", _MODULES)
