"""tf.compat.v1.tpu: TPUs, which weft does not have."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
unsupported_enums: PaddingSpec
"""

__getattr__, __dir__ = _namespace(globals(), "tpu", _MODULES, ["experimental"])
