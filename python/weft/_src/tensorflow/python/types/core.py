"""Bases of what counts as a tensor. keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
framework.tensor: Tensor=AnyTensor
function.types: TensorLike
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.types.core", _MODULES, otherwise=_absent)
