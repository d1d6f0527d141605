"""Which arguments are sparse tensors."""


def sparse_values(value):
    """(whether the value is a SparseTensor, the value)"""
    return hasattr(value, "indices") and hasattr(value, "dense_shape") and hasattr(value, "values"), value
