"""tf.compat.v1.tpu.experimental: TPUs."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
unsupported_enums: DeviceOrderMode
"""

__getattr__, __dir__ = _namespace(globals(), "tpu.experimental", _MODULES)
