"""Sizes of batches of a dataset. keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
data.structure: compute_batch_size
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.data.experimental.ops.distribute", _MODULES, otherwise=_absent)
