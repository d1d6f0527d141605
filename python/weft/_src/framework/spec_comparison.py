"""What TypeSpecs serialize to, compared item by item."""

import collections.abc

from weft._src.framework import dtypes, nest
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.framework.trace_type import TraceType


class Different(Exception):
    """Two values have not the same structure, or no common kind."""


def changed(value, change):
    if isinstance(value, (list, tuple)):
        return nest.sequence_like(value, [changed(v, change) for v in value])
    if isinstance(value, dict):
        return type(value)((k, changed(v, change)) for k, v in value.items())
    return change(value)


def hashable(value):
    if isinstance(value, (list, tuple)):
        return tuple(hashable(v) for v in value)
    if isinstance(value, collections.abc.Mapping):
        return "dict", tuple((k, hashable(value[k])) for k in sorted(value))
    if hasattr(value, "__array__") and not isinstance(value, Tensor):
        import numpy as np

        array = np.asarray(value)
        return "array", array.shape, str(array.dtype), tuple(array.ravel().tolist())
    return value


def _pairs(a, b):
    """The parts of two values to compare, None for leaves; another structure is a difference."""
    if isinstance(a, (list, tuple)):
        if type(a) is not type(b) or len(a) != len(b):
            raise Different
        return list(zip(a, b))
    if isinstance(a, dict):
        if type(a) is not type(b) or sorted(a) != sorted(b):
            raise Different
        return [(a[k], b[k]) for k in a]
    return None


def compatible(a, b):
    try:
        parts = _pairs(a, b)
    except Different:
        return False
    if parts is not None:
        return all(compatible(x, y) for x, y in parts)
    if isinstance(a, (TensorShape, dtypes.DType)):
        return isinstance(b, type(a)) and a.is_compatible_with(b)
    if isinstance(a, TraceType) and hasattr(a, "is_compatible_with"):  # a spec within a spec
        return type(a) is type(b) and a.is_compatible_with(b)
    return type(a) is type(b) and hashable(a) == hashable(b)


def subtype(a, b):
    try:
        parts = _pairs(a, b)
    except Different:
        return False
    if parts is not None:
        return all(subtype(x, y) for x, y in parts)
    return a.is_subtype_of(b) if isinstance(a, TraceType) else hashable(a) == hashable(b)


def common(value, others):
    if isinstance(value, (list, tuple)):
        if any(type(o) is not type(value) or len(o) != len(value) for o in others):
            raise Different
        return nest.sequence_like(value, [common(v, [o[i] for o in others]) for i, v in enumerate(value)])
    if isinstance(value, dict):
        if any(type(o) is not type(value) or sorted(o) != sorted(value) for o in others):
            raise Different
        return type(value)((k, common(v, [o[k] for o in others])) for k, v in value.items())
    if isinstance(value, TraceType):
        found = value.most_specific_common_supertype(others)
        if found is None:
            raise Different
        return found
    if any(hashable(o) != hashable(value) for o in others):
        raise Different
    return value
