"""tf.compat.v1.ragged: tf.ragged, with what sessions take and give."""

from weft._src.compat.v1.ragged import (  # noqa: F401
    __getattr__,
    RaggedTensorValue,
    boolean_mask,
    constant,
    constant_value,
    cross,
    cross_hashed,
    map_flat_values,
    placeholder,
    range,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack,
    stack_dynamic_partitions,
)
