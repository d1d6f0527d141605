"""tf.types"""

from weft._missing import missing
from weft.types import experimental

__all__ = ["experimental"]
__getattr__ = missing("tf.types")
