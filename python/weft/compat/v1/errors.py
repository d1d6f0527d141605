"""tf.compat.v1.errors: errors by their codes."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.errors: error_code_from_exception_type exception_type_from_error_code raise_exception_on_not_ok_status
"""

__getattr__, __dir__ = _namespace(globals(), "errors", _MODULES)
