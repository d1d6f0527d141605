"""Whether this is version 2. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
internal.utilities: enabled
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.tf2", _MODULES, otherwise=_absent)
