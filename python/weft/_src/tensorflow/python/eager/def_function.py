"""tf.function. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
function.function: Function function
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.eager.def_function", _MODULES, otherwise=_absent)
