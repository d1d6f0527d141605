"""Loops over ragged tensors. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
function.functional: map_fn
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.ops.ragged.ragged_map_ops", _MODULES, otherwise=_absent)
