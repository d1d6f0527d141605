"""tf.compat.v1.saved_model.main_op: ops that run when a model is loaded."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.saved_model: main_op=make_main_op main_op_with_restore
"""

__getattr__, __dir__ = _namespace(globals(), "saved_model.main_op", _MODULES)
