"""Ragged tensors as arguments. tensorflow_text."""

from weft._src.framework.convert import convert_to_tensor
from weft._src.ops.ragged.ragged_tensor import RaggedTensor, RaggedTensorValue, is_ragged  # noqa: F401


def convert_to_tensor_or_ragged_tensor(value, dtype=None, preferred_dtype=None, name=None):
    """A ragged tensor as it is, a value of one as one, all else as a tensor."""
    if isinstance(value, RaggedTensor):
        if dtype is not None and not value.dtype.is_compatible_with(dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for RaggedTensor with dtype {value.dtype.name}: {value}"
            )
        return value
    if isinstance(value, RaggedTensorValue):
        inner = convert_to_tensor_or_ragged_tensor(value.values, dtype, preferred_dtype)
        return RaggedTensor.from_row_splits(inner, value.row_splits, validate=False)
    return convert_to_tensor(value, dtype, preferred_dtype, name)
