"""tf.nest"""

from weft._missing import missing
from weft.framework.nest import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
__getattr__ = missing("tf.nest")
