"""tf.profiler"""

from weft._src.namespace import missing as _missing
from weft.profiler import experimental  # noqa: F401

__getattr__ = _missing("tf.profiler")
