"""Who takes calls over. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
framework.dispatchers: GlobalOpDispatcher OpDispatcher add_dispatch_support dispatch_for_types dispatch_for_api add_fallback_dispatch_list
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.util.dispatch", _MODULES, otherwise=_absent)
