"""tf.ragged"""

from weft._src.namespace import missing
from weft._src.ops.ragged.broadcast import map_flat_values
from weft._src.ops.ragged.factory import (
    boolean_mask,
    constant,
    cross,
    cross_hashed,
    range,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack,
    stack_dynamic_partitions,
)

__all__ = [
    "boolean_mask",
    "constant",
    "cross",
    "cross_hashed",
    "map_flat_values",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
    "stack_dynamic_partitions",
]
__getattr__ = missing("tf.ragged")
