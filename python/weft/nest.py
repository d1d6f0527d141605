"""tf.nest"""

from weft._src.namespace import missing
from weft._src.framework.nest import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
__getattr__ = missing("tf.nest")
