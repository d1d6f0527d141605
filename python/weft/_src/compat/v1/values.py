"""What sessions take and give for composite tensors, and other small values of version 1."""

import collections

IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
DeviceAttributes = collections.namedtuple("DeviceAttributes", ["name", "device_type", "memory_limit_bytes"])


def fetched(composite):
    """(tensors, a function that makes the result of their values)"""
    kind = type(composite).__name__
    if kind == "SparseTensor":
        from weft._src.ops.sparse_tensor import SparseTensorValue

        return [composite.indices, composite.values, composite.dense_shape], SparseTensorValue
    if kind == "IndexedSlices":
        return [composite.values, composite.indices, composite.dense_shape], IndexedSlicesValue
    from weft._src.framework import nest

    parts = nest.flatten(composite, expand_composites=True)
    if kind == "RaggedTensor":
        from weft._src.ops.ragged.ragged_tensor import RaggedTensorValue

        splits = composite.nested_row_splits
        return [composite.flat_values, *splits], lambda values, *rows: _nested(RaggedTensorValue, values, rows)
    return parts, lambda *values: list(values)


def _nested(make, values, rows):
    for splits in reversed(rows):
        values = make(values, splits)
    return values


def fed(composite, value):
    """(tensor, value) for each part."""
    kind = type(composite).__name__
    if kind == "SparseTensor":
        return zip(
            [composite.indices, composite.values, composite.dense_shape],
            value if isinstance(value, tuple) else (value.indices, value.values, value.dense_shape),
        )
    if kind == "IndexedSlices":
        parts = [composite.values, composite.indices]
        if composite.dense_shape is not None:
            parts.append(composite.dense_shape)
        return zip(parts, value if isinstance(value, tuple) else (value.values, value.indices, value.dense_shape))
    if kind == "RaggedTensor" and hasattr(value, "nested_row_splits"):
        return zip([composite.flat_values, *composite.nested_row_splits], [value.flat_values, *value.nested_row_splits])
    raise TypeError(f"a {kind} cannot be fed")
