"""Loading. tf2onnx, tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
saved_model.load: load _UserObject
saved_model.load: _RestoredResource=RestoredResource
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.saved_model.load", _MODULES, otherwise=_absent)
