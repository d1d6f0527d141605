"""Ragged tensors. Importing this tells ops and functions of the API what to do with them."""

from weft._src.ops.ragged import register as _register  # noqa: F401
from weft._src.ops.ragged.ragged_tensor import RaggedTensor, RaggedTensorSpec  # noqa: F401
