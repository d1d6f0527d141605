"""tf.sets: sets in the last dimension, of dense or sparse tensors."""

from weft._src.raw import raw
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable


def _sparse_class():
    from weft._src.ops.sparse_ops import SparseTensor

    return SparseTensor


def _value(x):
    return x if isinstance(x, _sparse_class()) else convert_to_tensor(x)


@dispatchable
def size(a, validate_indices=True):
    """How many elements each set has."""
    if not isinstance(a, _sparse_class()):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    return raw.SetSize(
        set_indices=a.indices, set_values=a.values, set_shape=a.dense_shape, validate_indices=validate_indices
    )


def _operate(a, b, operation, validate):
    sparse = _sparse_class()
    a, b = _value(a), _value(b)
    swapped = isinstance(a, sparse) and not isinstance(b, sparse)
    if swapped:  # the op takes the dense one first
        a, b = b, a
        operation = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
    if isinstance(a, sparse):
        made = raw.SparseToSparseSetOperation(
            set1_indices=a.indices,
            set1_values=a.values,
            set1_shape=a.dense_shape,
            set2_indices=b.indices,
            set2_values=b.values,
            set2_shape=b.dense_shape,
            set_operation=operation,
            validate_indices=validate,
        )
    elif isinstance(b, sparse):
        made = raw.DenseToSparseSetOperation(
            set1=a,
            set2_indices=b.indices,
            set2_values=b.values,
            set2_shape=b.dense_shape,
            set_operation=operation,
            validate_indices=validate,
        )
    else:
        made = raw.DenseToDenseSetOperation(set1=a, set2=b, set_operation=operation, validate_indices=validate)
    return sparse(made.result_indices, made.result_values, made.result_shape)


@dispatchable
def intersection(a, b, validate_indices=True):
    return _operate(a, b, "intersection", validate_indices)


@dispatchable
def difference(a, b, aminusb=True, validate_indices=True):
    return _operate(a, b, "a-b" if aminusb else "b-a", validate_indices)


@dispatchable
def union(a, b, validate_indices=True):
    return _operate(a, b, "union", validate_indices)
