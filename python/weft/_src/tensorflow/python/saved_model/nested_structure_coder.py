"""Structures of specs as messages. tensorflow-hub, keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
saved_model.structured: can_encode decode_proto=decode encode_structure=encode NotEncodableError
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.saved_model.nested_structure_coder", _MODULES, otherwise=_absent)
