"""tf.experimental.extension_type"""

from weft._src.namespace import missing
from weft._src.framework.extension_type import as_dict

__all__ = ["as_dict"]
__getattr__ = missing("tf.experimental.extension_type")
