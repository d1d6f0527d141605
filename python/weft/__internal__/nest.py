"""tf.__internal__.nest"""

from weft._src.framework.nest import (  # noqa: F401
    flatten_up_to,
    get_traverse_shallow_structure,
    is_attrs,
    is_mapping,
    list_to_tuple,
    map_structure_up_to,
    sequence_like,
    yield_flat_paths,
)
from weft._src.namespace import missing

__getattr__ = missing("tf.__internal__.nest")
