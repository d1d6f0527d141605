"""Ops of XLA. keras, tensorflow-probability."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
ops.private_ops: dynamic_update_slice
"""

__getattr__, __dir__ = _lazily(globals(), "tf.compiler.tf2xla.python.xla", _MODULES, otherwise=_absent)
