"""tf.compat.v1.strings: tf.strings with version 1's arguments where they differ."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.old_ops: split=strings_split
"""

__getattr__, __dir__ = _namespace(globals(), "strings", _MODULES)
