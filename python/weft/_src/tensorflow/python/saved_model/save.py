"""Saving. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
saved_model.save: save save_and_return_nodes
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.saved_model.save", _MODULES, otherwise=_absent)
