"""numpy's functions on tensors."""
