"""The options of a load that is under way. tensorflow-hub."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
internal.saved_model: get_load_options in_load_context load_context
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.saved_model.load_context", _MODULES, otherwise=_absent)
