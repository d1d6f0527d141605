"""tf.compat.v1.app"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
compat.v1.testing: run flags
"""

__getattr__, __dir__ = _lazily(globals(), "tf.compat.v1.app", _MODULES)
