"""Tensors as TensorProto messages, and back."""

import numpy as np

from weft import _weft
from weft._src.framework import dtypes
from weft._src.proto import message_class

# dtype -> the field of TensorProto that has its values one by one
_FIELDS = {}
for _name, _types in {
    "float_val": "float32",
    "double_val": "float64",
    "int_val": "int32 int16 int8 uint8 uint16 qint8 quint8 qint16 quint16 qint32",
    "int64_val": "int64",
    "uint32_val": "uint32",
    "uint64_val": "uint64",
    "bool_val": "bool",
    "string_val": "string",
    "half_val": "float16 bfloat16",
    "scomplex_val": "complex64",
    "dcomplex_val": "complex128",
}.items():
    for _type in _types.split():
        _FIELDS[_type] = _name
# TensorFlow writes several values of these as raw bytes.
_CONTENT = set(
    "float16 bfloat16 float32 float64 int32 uint8 int16 int8 int64 qint8 quint8 qint16 quint16 qint32 uint32 uint64".split()
)


def _array(values, dtype):
    if isinstance(values, (np.ndarray, np.generic)):
        return (
            np.asarray(values)
            if dtype is None or dtype.is_compatible_with(values.dtype)
            else np.asarray(values).astype(dtype.as_numpy_dtype)
        )
    if values is None:
        raise ValueError("None values not supported.")
    try:
        tensor = _weft.convert_native(values, dtype)
    except ValueError:  # whole and complex numbers in one list: numpy finds the type for all
        array = np.array(values) if dtype is None else None
        if array is None or array.dtype.kind not in "biufc":
            raise
        return array
    if tensor is None:
        if hasattr(values, "__array__"):
            return _array(np.asarray(values), dtype)
        raise TypeError(
            f"Failed to convert elements of {values} to Tensor. Consider casting elements to a supported type. "
            "See https://www.tensorflow.org/api_docs/python/tf/dtypes for supported TF dtypes."
        )
    return tensor.numpy()


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """The values as a TensorProto: raw bytes for several numbers, a list for few or for text."""
    TensorProto = message_class("tensorflow.TensorProto")
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, TensorProto):
        return values
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    array = np.asarray(_array(values, dtype))
    if dtype is None:
        dtype = dtypes.string if array.dtype.kind in "SUO" else dtypes.as_dtype(array.dtype)
    if shape is None:
        dims = array.shape
    else:
        dims = tuple(int(d) for d in shape)
        size = int(np.prod(dims, dtype=np.int64))
        if allow_broadcast:
            if array.size == 1:
                pass
            elif array.size != size:
                array = np.broadcast_to(array, dims)
        elif verify_shape and array.shape != dims:
            raise TypeError(f"Expected Tensor's shape: {dims}, but got {array.shape}.")
        if array.size > size:
            raise ValueError(f"Too many elements provided. Takes at most {size:d}, but got {array.size:d}")
    made = TensorProto(dtype=dtype.as_datatype_enum)
    made.tensor_shape.SetInParent()
    for d in dims:
        made.tensor_shape.dim.add(size=int(d))
    name = dtype.base_dtype.name
    if name in _CONTENT and array.size > 1 and array.size == int(np.prod(dims, dtype=np.int64)):
        made.tensor_content = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        return made
    flat = array.reshape(-1)
    if name not in _FIELDS:
        raise TypeError(f"Unrecognized data type: {dtype.name}")
    field = getattr(made, _FIELDS[name])
    if name == "string":
        field.extend([v.encode() if isinstance(v, str) else bytes(v) for v in flat.tolist()])
    elif name in ("float16", "bfloat16"):
        field.extend(np.ascontiguousarray(flat).view(np.uint16).tolist())
    elif name.startswith("complex"):
        field.extend([part for v in flat.tolist() for part in (v.real, v.imag)])
    else:
        field.extend(flat.tolist())
    return made


def make_ndarray(tensor):
    """The array of a TensorProto."""
    shape = [d.size for d in tensor.tensor_shape.dim]
    count = int(np.prod(shape, dtype=np.int64))
    dtype = dtypes.as_dtype(tensor.dtype)
    name = dtype.base_dtype.name
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, dtype=dtype.as_numpy_dtype).copy().reshape(shape)
    if name not in _FIELDS:
        raise TypeError(
            f"Unsupported tensor type: {tensor.dtype}. See https://www.tensorflow.org/api_docs/python/tf/dtypes for supported TF dtypes."
        )
    values = list(getattr(tensor, _FIELDS[name]))
    if name == "string":
        flat = np.empty(len(values), dtype=object)
        flat[:] = values
    elif name in ("float16", "bfloat16"):
        flat = np.array(values, dtype=np.uint16).view(dtype.as_numpy_dtype)
    elif name.startswith("complex"):
        flat = np.array(values[0::2], dtype=dtype.as_numpy_dtype) + 1j * np.array(values[1::2])
        flat = flat.astype(dtype.as_numpy_dtype)
    else:
        flat = np.array(values, dtype=dtype.as_numpy_dtype)
    if not len(flat):
        return np.zeros(shape, dtype=dtype.as_numpy_dtype) if name != "string" else np.full(shape, b"", dtype=object)
    if len(flat) != count:  # the last value stands for all that follow
        flat = np.concatenate([flat, np.repeat(flat[-1:], count - len(flat))])
    return flat.reshape(shape)
