"""Ragged tensors from and to others. tensorflow_text."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
ops.ragged.convert: from_sparse from_tensor to_sparse to_tensor ragged_to_dense=to_tensor
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.ops.ragged.ragged_conversion_ops", _MODULES, otherwise=_absent)
