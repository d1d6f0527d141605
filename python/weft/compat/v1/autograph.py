"""tf.compat.v1.autograph: Python's control flow."""

from weft._src.compat.v1.version_2 import namespace as _namespace

__getattr__, __dir__ = _namespace(globals(), "autograph")
