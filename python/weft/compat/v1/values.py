"""What sessions take and give for composite tensors, and other small values of version 1."""

import collections

IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
DeviceAttributes = collections.namedtuple("DeviceAttributes", ["name", "device_type", "memory_limit_bytes"])


def fetched(composite):
    """(tensors, a function that makes the result of their values)"""
    kind = type(composite).__name__
    if kind == "SparseTensor":
        from weft.ops.sparse_tensor import SparseTensorValue

        return [composite.indices, composite.values, composite.dense_shape], SparseTensorValue
    if kind == "IndexedSlices":
        return [composite.values, composite.indices, composite.dense_shape], IndexedSlicesValue
    from weft.framework import nest

    parts = nest.flatten(composite, expand_composites=True)
    if kind == "RaggedTensor":
        from weft.ops.ragged.ragged_tensor import RaggedTensorValue

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
        return zip([composite.values, composite.indices], (value.values, value.indices))
    if kind == "RaggedTensor" and hasattr(value, "nested_row_splits"):
        return zip([composite.flat_values, *composite.nested_row_splits], [value.flat_values, *value.nested_row_splits])
    raise TypeError(f"a {kind} cannot be fed")


class Dimension:
    """One size of a shape of version 1; None is any."""

    def __init__(self, value):
        value = getattr(value, "value", value)
        self._value = None if value is None else int(value)
        if self._value is not None and self._value < 0:
            raise ValueError(f"Dimension {self._value} must be >= 0")

    @property
    def value(self):
        return self._value

    def __repr__(self):
        return f"Dimension({self._value!r})"

    def __str__(self):
        return "?" if self._value is None else str(self._value)

    def __eq__(self, other):
        other = Dimension(other)
        return None if self._value is None or other._value is None else self._value == other._value

    def __ne__(self, other):
        same = self == other
        return None if same is None else not same

    def __int__(self):
        return self._value

    def __index__(self):
        return self._value

    def __long__(self):
        return self._value

    def __hash__(self):
        return hash(self._value)

    def is_compatible_with(self, other):
        other = Dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other):
        other = Dimension(other)
        self.assert_is_compatible_with(other)
        return other if self._value is None else self

    def _with(self, other, operation):
        other = Dimension(other)
        return Dimension(None if self._value is None or other._value is None else operation(self._value, other._value))

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __floordiv__(self, other):
        return self._with(other, lambda a, b: a // b)

    def __mod__(self, other):
        return self._with(other, lambda a, b: a % b)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return Dimension(other) - self

    def _compared(self, other, operation):
        other = Dimension(other)
        return None if self._value is None or other._value is None else operation(self._value, other._value)

    def __lt__(self, other):
        return self._compared(other, lambda a, b: a < b)

    def __le__(self, other):
        return self._compared(other, lambda a, b: a <= b)

    def __gt__(self, other):
        return self._compared(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self._compared(other, lambda a, b: a >= b)
