"""tf.compat.v1.ragged: tf.ragged, with what sessions take and give."""

from builtins import range as _count

from weft._src.namespace import missing
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.tensor_shape import TensorShape
from weft._src.ops.ragged.broadcast import map_flat_values
from weft._src.ops.ragged.factory import (
    boolean_mask,
    constant,
    constant_value,
    cross,
    cross_hashed,
    range,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack,
    stack_dynamic_partitions,
)
from weft._src.ops.ragged.ragged_tensor import RaggedTensor, RaggedTensorValue


def placeholder(dtype, ragged_rank, value_shape=None, name=None):
    """A ragged tensor that a session is fed."""
    inner = TensorShape(None) if value_shape is None else TensorShape([None]).concatenate(value_shape)
    result = raw.Placeholder(dtype=dtype, shape=inner, name=None if name is None else f"{name}/flat_values")
    for i in reversed(_count(ragged_rank)):
        splits = raw.Placeholder(
            dtype=dtypes.int64, shape=TensorShape([None]), name=None if name is None else f"{name}/row_splits_{i}"
        )
        result = RaggedTensor.from_row_splits(result, splits, validate=False)
    return result


__all__ = [
    "RaggedTensorValue",
    "boolean_mask",
    "constant",
    "constant_value",
    "cross",
    "cross_hashed",
    "map_flat_values",
    "placeholder",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
    "stack_dynamic_partitions",
]
__getattr__ = missing("tf.compat.v1.ragged")
