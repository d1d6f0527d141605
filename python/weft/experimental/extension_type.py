"""tf.experimental.extension_type"""

from weft._missing import missing
from weft.framework.extension_type import as_dict

__all__ = ["as_dict"]
__getattr__ = missing("tf.experimental.extension_type")
