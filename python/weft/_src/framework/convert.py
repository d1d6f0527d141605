"""Python values as tensors: tf.constant, tf.convert_to_tensor and what classes register for themselves."""

from weft import _weft
from weft._src.framework import dtypes
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.static_value import get_static_value, value_outside_of_graphs  # noqa: F401
from weft._src.framework.tensor import EagerTensor, SymbolicTensor, Tensor
from weft._src.framework.tensor_shape import Dimension, TensorShape, as_shape

_registered = []  # (priority, type or types, function)


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Values of base_type become tensors by conversion_func(value, dtype, name, as_ref)."""
    _registered.append((priority, base_type, conversion_func))
    _registered.sort(key=lambda entry: entry[0])


def has_conversion(kind):
    """Whether a function was registered for this class."""
    return any(issubclass(kind, kinds) for _, kinds, _ in _registered)


def _convert_hook(value, dtype, preferred, name):
    """For the engine: a value that it cannot convert by itself."""
    return _convert(value, dtype, preferred, name)


class _Unconvertible(ValueError):
    """For values of several tensors. The text is made when it is asked for: dispatch drops most of these errors."""

    def __init__(self, value):
        self._value = value

    def __str__(self):
        if isinstance(self._value, str):
            return self._value  # made by who adds to the text of an error
        if self._unsupported_type:
            return _unsupported_text(self._value)
        return f"TypeError: object of type '{type(self._value).__name__}' has no len()\n"

    @property
    def _unsupported_type(self):
        kind = type(self._value)
        return kind is not str and (hasattr(kind, "__len__") or not hasattr(kind, "__getitem__"))


_Unconvertible.__name__ = _Unconvertible.__qualname__ = "ValueError"


def _unsupported_text(value):
    return f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)!r}) to a Tensor."


def is_unsupported_type(error):
    """Whether the error says that nothing makes a tensor of values of that type."""
    return getattr(error, "_unsupported_type", False)


def _same_type(tensor, dtype, value):
    if dtype is not None and not dtype.is_compatible_with(tensor.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {tensor.dtype.name}: {value!r}"
        )
    return tensor


def _convert(value, dtype, preferred, name):
    if isinstance(value, Tensor):
        return _same_type(value, dtype, value)
    for _, kinds, function in _registered:
        if isinstance(value, kinds):
            for wanted in ([preferred] if dtype is None and preferred is not None else []) + [dtype]:
                try:
                    made = function(value, dtype=wanted, name=name, as_ref=False)
                except (TypeError, ValueError):
                    if wanted is dtype:
                        raise
                    continue
                if made is not NotImplemented:
                    return made
    method = getattr(type(value), "__tf_tensor__", None)
    if method is not None:
        return _same_type(method(value, dtype, name), dtype, value)
    if isinstance(value, TensorShape):
        if not value.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
        sizes = value.as_list()
        if dtype is None:
            dtype = dtypes.int64 if any(s >= 2**31 for s in sizes) else dtypes.int32
        return _weft.convert_native(sizes, dtype)
    if isinstance(value, (list, tuple)) and _holds_tensors(value):
        return _pack(value, dtype or preferred, name)
    if dtype is None and preferred is not None:
        try:
            return _eager_constant(value, preferred)
        except (TypeError, ValueError):
            pass
    return _eager_constant(value, dtype)


def _holds_tensors(value):
    return any(
        isinstance(v, (Tensor, _weft.VariableBase))
        or hasattr(type(v), "__tf_tensor__")
        or (isinstance(v, (list, tuple)) and _holds_tensors(v))
        for v in value
    )


def _first_dtype(value):
    for v in value:
        if isinstance(v, (Tensor, _weft.VariableBase)):
            return v.dtype.base_dtype
        if isinstance(v, (list, tuple)):
            found = _first_dtype(v)
            if found is not None:
                return found
    return None


def _pack(value, dtype, name):
    """A sequence that holds tensors: stacked, level by level. Tensors are cast to a type that was asked for."""
    from weft._src.raw import raw
    from weft._src.ops._direct import scope

    common = dtype or _first_dtype(value)

    def typed(v):
        if v.dtype == common or (dtype is None and isinstance(v, EagerTensor)):
            return v  # of another type: Pack says what is wrong
        if dtype is not None:
            return raw.Cast(x=v, DstT=dtype)
        raise TypeError(f"Cannot convert a list containing a tensor of dtype {v.dtype} to {common} (Tensor is: {v!r})")

    with scope(name, "packed") as name:
        parts = list(value)
        for i, v in enumerate(parts):
            if isinstance(v, (list, tuple)) and _holds_tensors(v):
                parts[i] = _pack(v, common, str(i))
        for i, v in enumerate(parts):
            tensor = isinstance(v, (Tensor, _weft.VariableBase))
            parts[i] = typed(v) if tensor else convert_to_tensor(v, common, name=str(i))
        return raw.Pack(values=parts, axis=0, name=name)


def _eager_constant(value, dtype):
    """Numbers, text, sequences and arrays; arrays are cast as numpy casts."""
    import numpy as np

    if getattr(type(value), "_is_composite", False):
        raise _Unconvertible(value)

    if dtype is not None:
        dtype = dtype.base_dtype
    made = _weft.convert_native(value, dtype)
    if made is not None:
        return made
    if isinstance(value, (list, tuple)) and any(isinstance(v, (np.ndarray, np.generic)) for v in _leaves(value)):
        value = [np.asarray(v) for v in value] if all(isinstance(v, (np.ndarray, np.generic)) for v in value) else value
        try:
            array = np.array(value)
        except ValueError:
            raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
        if array.dtype == object:
            raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
        if (
            dtype is None
            and array.dtype == np.float64
            and not any(isinstance(v, (np.ndarray, np.float64)) for v in _leaves(value))
        ):
            dtype = dtypes.float32
        return _from_array(array, dtype)
    if any(hasattr(value, way) for way in ("__array__", "__array_interface__", "__dlpack__")):
        return _from_array(np.asarray(value), dtype)
    if isinstance(value, (bytearray, memoryview)):
        return _weft.convert_native(bytes(value), dtype)
    if isinstance(value, (list, tuple, TensorShape)):
        value = _without_shapes(value)
        if any(v is None for v in _leaves(value)):
            value = None
        else:
            for v in _leaves(value):
                if isinstance(v, EagerTensor):
                    raise ValueError("TypeError: Scalar tensor has no `len()`\n")
                if isinstance(v, _weft.VariableBase):
                    raise ValueError(f"TypeError: object of type '{type(v).__name__}' has no len()\n")
                if _weft.convert_native(v, None) is None:
                    value = v
                    break
            else:
                made = _weft.convert_native(_plain(value), dtype)
                if made is None:  # tensors among the numbers
                    raise ValueError("TypeError: Scalar tensor has no `len()`\n")
                return made
    elif isinstance(value, range):
        return _weft.convert_native(list(value), dtype)
    elif isinstance(value, Dimension) and value.value is None:
        raise ValueError(f"Cannot convert unknown Dimension {value} to a Tensor.")
    elif hasattr(type(value), "__index__") and not isinstance(value, (str, bytes)):
        return _weft.convert_native(int(value), dtype)
    error = ValueError(_unsupported_text(value))
    error._unsupported_type = True
    raise error


def _without_shapes(value):
    """Shapes among the values, as lists."""
    if isinstance(value, TensorShape):
        return list(value)
    if isinstance(value, Dimension):
        return value.value
    return [_without_shapes(v) for v in value] if isinstance(value, (list, tuple)) else value


def _plain(value):
    return [_plain(v) if isinstance(v, (list, tuple)) else v for v in value]


def _leaves(value):
    for v in value:
        if isinstance(v, (list, tuple)):
            yield from _leaves(v)
        else:
            yield v


# Numpy's own names of the types of arrays that no tensor has.
_UNKNOWN_ARRAYS = {"M": "NPY_DATETIME", "m": "NPY_TIMEDELTA", "g": "NPY_LONGDOUBLE", "G": "NPY_CLONGDOUBLE"}


def _from_array(array, dtype):
    import numpy as np

    if dtype is not None and (dtype is dtypes.string) != (array.dtype.kind in "SUO"):
        array = array.astype(dtypes.numpy_dtype(dtype._type_enum))
    if array.dtype.kind in "SUO":
        others = [v for v in array.ravel().tolist() if not isinstance(v, (bytes, str))]
        if others:
            raise ValueError(
                f"Failed to convert a NumPy array to a Tensor (Unsupported object type {type(others[0]).__name__})."
            )
        return _weft.convert_native(array.tolist(), dtypes.string) if array.size else _empty(array.shape, dtypes.string)
    own = dtypes._from_numpy(array.dtype)
    if own is None:
        kind = _UNKNOWN_ARRAYS.get(array.dtype.char)
        why = f"Unsupported numpy type: {kind}" if kind else "Unexpected numpy data type"
        raise ValueError(f"Failed to convert a NumPy array to a Tensor ({why}).")
    if dtype is not None and dtype is not own:
        array = array.astype(dtypes.numpy_dtype(dtype._type_enum))
        own = dtype
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    array = np.ascontiguousarray(array).reshape(array.shape)
    return _weft.from_buffer(array.view(np.uint8) if array.ndim else array.reshape(1).view(np.uint8), own, array.shape)


def _empty(shape, dtype):
    from weft._src.raw import raw

    return raw.Fill(dims=list(shape), value=b"" if dtype is dtypes.string else 0)


def constant(value, dtype=None, shape=None, name="Const"):
    """A constant tensor of a Python value, perhaps filled up or reshaped to a shape."""
    from weft._src.raw import raw

    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, SymbolicTensor):
        if not value.graph.building_function:
            raise TypeError("Expected any non-tensor type, but got a tensor instead.")
        tensor = value
    elif isinstance(value, EagerTensor):
        if dtype is not None and value.dtype is not dtype.base_dtype:
            raise TypeError(f"Expected tensor {value} with dtype {dtype!r}, but got dtype {value.dtype!r}.")
        tensor = value
    elif isinstance(value, _weft.VariableBase):
        tensor = convert_to_tensor(value, dtype)
    elif _weft.in_graph() and isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in _leaves(value)):
        raise TypeError("Expected any non-tensor type, but got a tensor")
    else:
        tensor = _eager_constant(value, dtype)
    if shape is not None:
        shape = as_shape(shape)
        if tensor.shape != shape:
            count = tensor.shape.num_elements()
            if count == shape.num_elements():
                tensor = _outside(lambda: raw.Reshape(tensor=tensor, shape=shape.as_list()), tensor)
            elif count == 1:
                tensor = _outside(
                    lambda: raw.Fill(dims=shape.as_list(), value=raw.Reshape(tensor=tensor, shape=[])), tensor
                )
            else:
                raise TypeError(
                    f"Eager execution of tf.constant with unsupported shape. Tensor {tensor} (converted from {value}) has {count} elements, but got "
                    f"`shape` {shape} with {shape.num_elements()} elements)."
                )
    if isinstance(tensor, EagerTensor) and _weft.in_graph():
        return raw.Const(value=tensor, dtype=tensor.dtype, name=name)
    # A device scope holds for constants, too; without one they go where ops would.
    if isinstance(tensor, EagerTensor) and (_weft.scoped_device() or (tensor is not value and _has_gpu())):
        return raw.Identity(input=tensor)
    return tensor


_gpu = None


def _has_gpu():
    """Is there a GPU among the devices? Machines without one are not asked twice."""
    global _gpu
    if _gpu is None:
        from weft._src.framework import config

        _gpu = bool(config.list_physical_devices("GPU")) and bool(config.list_logical_devices("GPU"))
    return _gpu


def _outside(code, tensor):
    if not isinstance(tensor, EagerTensor) or not _weft.in_graph():
        return code()
    _weft.enter_eager()
    try:
        return code()
    finally:
        _weft.exit_graph()


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """The value as a tensor: tensors as they are, everything else by its class."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    elif isinstance(value, EagerTensor) and not _weft.in_graph():
        return value
    if isinstance(value, Tensor):
        tensor = _same_type(value, dtype, value)
    else:
        tensor = _weft.convert(value, dtype, None if dtype_hint is None else dtypes.as_dtype(dtype_hint), name)
    if _weft.in_graph():
        if isinstance(tensor, EagerTensor) and not isinstance(value, (Tensor, _weft.VariableBase)):
            from weft._src.raw import raw

            return raw.Const(value=tensor, dtype=tensor.dtype, name=name or "Const")
        return in_graph(tensor, name)
    if _has_gpu() and isinstance(tensor, EagerTensor) and not isinstance(value, (Tensor, _weft.VariableBase)):
        if (
            tensor.dtype.is_floating or tensor.dtype.is_complex
        ):  # where ops are; integers are often sizes, which the host reads
            from weft._src.raw import raw

            return raw.Identity(input=tensor)
    return tensor


def convert_on_host(value):
    """The same for what the host reads next, as datasets do: it is not brought to a GPU first."""
    if _weft.in_graph() or isinstance(value, Tensor):
        return convert_to_tensor(value)
    return _weft.convert(value, None, None, None)


# tf.convert_to_tensor, which classes may take over; what is composed of ops converts by the function above, and is taken over as a whole.
public_convert_to_tensor = dispatchable(convert_to_tensor)


def in_graph(tensor, name=None):
    """The tensor as one of the graph that is being built: small eager ones become constants, others captures."""
    if isinstance(tensor, EagerTensor):
        graph = _weft.current_graph()
        if graph._native.plain:
            from weft._src.raw import raw

            return raw.Const(value=tensor, dtype=tensor.dtype, name=name or "Const")
        return graph.capture(tensor, name)
    return tensor


def constant_value(tensor, partial=False):
    """The value as an array where the engine knows it before the graph runs; else None. Programs ask get_static_value."""
    if isinstance(tensor, EagerTensor) or not isinstance(tensor, Tensor):
        return value_outside_of_graphs(tensor)
    value = tensor._constant_value()
    return None if value is None else value.numpy()
