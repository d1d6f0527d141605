"""tf.types"""

from weft._src.namespace import missing
from weft.types import experimental

__all__ = ["experimental"]
__getattr__ = missing("tf.types")
