"""tf.compat.v1.user_ops: an op for tests."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.old_ops: my_fact
"""

__getattr__, __dir__ = _namespace(globals(), "user_ops", _MODULES)
