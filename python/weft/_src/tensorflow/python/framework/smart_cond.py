"""Branches that are known at once. tensorflow-hub."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
internal.smart_cond: smart_cond smart_constant_value
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.framework.smart_cond", _MODULES, otherwise=_absent)
