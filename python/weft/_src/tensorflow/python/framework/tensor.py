"""Tensors and their specs. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
framework.tensor: Tensor
framework.type_spec: TensorSpec DenseSpec
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.framework.tensor", _MODULES, otherwise=_absent)
