"""numpy's types and its rules for what comes of two of them."""

import numpy as np

import weft as tf
from weft._src.framework import dtypes
from weft._src.framework.convert import _leaves, convert_to_tensor
from weft._src.framework.tensor import Tensor

bool_, int_, int8, int16, int32, int64 = np.bool_, np.int64, np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float_, float16, float32, float64 = np.float64, np.float16, np.float32, np.float64
complex_, complex64, complex128 = np.complex128, np.complex64, np.complex128
inexact, object_, string_, unicode_ = np.inexact, np.object_, np.bytes_, np.str_
iinfo, issubdtype = np.iinfo, np.issubdtype
_prefer_float32 = False
_rule = None  # the type of several values by weak types, while those are on


def set_prefer_float32(on):
    global _prefer_float32
    _prefer_float32 = on


def set_rule(rule):
    global _rule
    _rule = rule


def _narrow(dtype):
    return (
        {"float64": np.dtype("float32"), "int64": np.dtype("int32"), "complex128": np.dtype("complex64")}.get(
            dtype.name, dtype
        )
        if _prefer_float32
        else dtype
    )


def as_type(dtype):
    """The type that numpy means: Python's own and its short names, too."""
    if dtype is None or isinstance(dtype, dtypes.DType):
        return default_float() if dtype is None else dtype
    return tf.as_dtype(_narrow(np.dtype(dtype)))


def default_float():
    return tf.float32 if _prefer_float32 or _rule is not None else tf.float64


def default_int():
    return tf.int32 if _prefer_float32 or _rule is not None else tf.int64


def finfo(dtype):
    return np.finfo(tf.as_dtype(dtype).as_numpy_dtype if isinstance(dtype, dtypes.DType) else dtype)


def _kind(value):
    """What numpy's promotion sees of a value: a dtype, or a plain number, which yields to others."""
    if isinstance(value, dtypes.DType):
        return np.dtype(value.as_numpy_dtype)
    if isinstance(value, Tensor) or hasattr(value, "_native_dtype"):
        return np.dtype(value.dtype.as_numpy_dtype)
    if isinstance(value, (bool, int, float, complex)):
        return value
    return value


def result_dtype(*values):
    """Numbers in lists are plain numbers, too; where there is nothing else, numpy's type of them."""
    if _rule is not None:
        return _rule(*values)
    leaves = [v for value in values for v in (_leaves(value) if isinstance(value, (list, tuple)) else [value])]
    return tf.as_dtype(_narrow(np.result_type(*[_kind(v) for v in leaves]) if leaves else np.dtype("float64")))


def result_type(*arrays_and_dtypes):
    if not arrays_and_dtypes:
        raise ValueError("at least one array or dtype is required")
    return result_dtype(*arrays_and_dtypes)


def promote_types(type1, type2):
    def own(t):
        return np.dtype(t.as_numpy_dtype) if isinstance(t, dtypes.DType) else np.dtype(t)

    return _narrow(np.promote_types(own(type1), own(type2)))


def as_tensor(value, dtype=None):
    """An array: as numpy would make it, lists of numbers in 64 bits."""
    if dtype is not None:
        dtype = as_type(dtype)
    if tf.is_tensor(value):
        value = convert_to_tensor(value)
        return value if dtype is None or value.dtype == dtype else tf.cast(value, dtype)
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in _leaves(value)):
        dtype = dtype or result_dtype(value)
        return tf.stack([as_tensor(v, dtype) for v in value])
    array = np.asarray(value)
    if dtype is None:
        dtype = tf.as_dtype(_narrow(array.dtype)) if _rule is None else _rule(value)
    return convert_to_tensor(array, dtype)


def promoted(*values):
    """All as tensors of one type."""
    dtype = result_dtype(*values)
    return [as_tensor(v, dtype) for v in values]


def floating(value):
    """As a tensor of a floating or complex type."""
    value = as_tensor(value)
    return value if value.dtype.is_floating or value.dtype.is_complex else tf.cast(value, default_float())
