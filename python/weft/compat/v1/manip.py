"""tf.compat.v1.manip: shapes of tensors."""

from weft._src.compat.v1.version_2 import namespace as _namespace

__getattr__, __dir__ = _namespace(globals(), "manip")
