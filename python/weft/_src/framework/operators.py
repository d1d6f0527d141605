"""Python's operators on tensors, where the engine's own fast way does not apply: other types, graphs, values to convert."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import has_conversion, is_unsupported_type
from weft._src.framework.tensor import SymbolicTensor, Tensor

_promotion = None


def use_promotion(function):
    """From here on function(x, y) gives both sides as tensors of one type (numpy's rules)."""
    global _promotion
    _promotion = function


def _tensors(x, y):
    """Both as tensors; a plain value takes the other's type where it can."""
    if _promotion is not None:
        both = _promotion(x, y)
        if both is not None:
            return both
    # Not yet values of the graph: there, they get the name of the op that they are for.
    if isinstance(y, _weft.VariableBase):
        return x, y
    if isinstance(x, Tensor):
        return x, y if isinstance(y, Tensor) else _weft.convert(y, None, x.dtype.base_dtype)
    return _weft.convert(x, y.dtype.base_dtype, None), y


def _compared(x, y):
    """Both as tensors; text and Python's numbers must have the tensor's type."""
    if _promotion is None:
        if isinstance(x, Tensor) and isinstance(y, (str, bytes, int, float)):
            return x, _weft.convert(y, x.dtype.base_dtype, None)
        if isinstance(y, Tensor) and isinstance(x, (str, bytes, int, float)):
            return _weft.convert(x, y.dtype.base_dtype, None), y
    return _tensors(x, y)


_PLAIN = (int, float, complex, str, bytes, list, tuple)


def _refused(value, dtype):
    """The first part of a plain value that is not of the type."""
    if isinstance(value, (list, tuple)):
        return next((part for part in (_refused(v, dtype) for v in value) if part is not None), None)
    try:
        _weft.convert(value, dtype, None)
    except TypeError:
        return value
    return None


def _expected(dtype, value):
    return f"Expected {dtype.name}, but got {value} of type '{type(value).__name__}'."


def _in_graph(x, y, op):
    """For graphs, a plain value as a tensor of the other's type; None where that is not the question. TensorFlow has words of its own for it there."""
    plain, tensor = (y, x) if isinstance(x, Tensor) else (x, y)
    if plain is None:
        raise ValueError(
            ("Tried to convert 'y' to a tensor and failed. Error: " if op and plain is y else "")
            + "None values not supported."
        )
    if (
        not isinstance(plain, _PLAIN)
        or isinstance(plain, bool)
        or _promotion is not None
        or (op is None and plain is y)
    ):
        return None
    dtype = tensor.dtype.base_dtype
    try:
        made = _weft.convert(plain, dtype, None)
    except TypeError:
        bad = _refused(plain, dtype)
        if bad is None:
            return None
        if plain is x:
            raise TypeError(_expected(dtype, bad)) from None
        raise TypeError(
            f"Expected {dtype.name} passed to parameter 'y' of op '{op().op_name}', got {plain} of type '{type(plain).__name__}' instead. "
            f"Error: {_expected(dtype, bad)}"
        ) from None
    except ValueError:
        return None
    return (x, made) if plain is y else (made, y)


def _in_words_of_graphs(error, x, y, op):
    """The error of a right side that is nothing a tensor can be made of; graphs have another one."""
    unknown = isinstance(x, Tensor) and is_unsupported_type(error)
    if not unknown or not _weft.in_graph() or y is None:
        return error
    if op:
        dtype = x.dtype.base_dtype
        return TypeError(
            f"Expected {dtype.name} passed to parameter 'y' of op '{op().op_name}', got {y} of type '{type(y).__name__}' instead. Error: {_expected(dtype, y)}"
        )
    return TypeError(
        f"Failed to convert elements of {y} to Tensor. Consider casting elements to a supported type. See "
        "https://www.tensorflow.org/api_docs/python/tf/dtypes for supported TF dtypes."
    )


def _stands_alone(value):
    """Ragged and sparse tensors have operators of their own; IndexedSlices, and what others have registered a conversion for, becomes a tensor."""
    kind = type(value)
    return getattr(kind, "_is_composite", False) and not hasattr(kind, "__tf_tensor__") and not has_conversion(kind)


def _operator(function, reflected, tensors=_tensors, op=None):
    """An operator; op() is what errors name; `reflected` is that of the other side, which is asked where a value is no tensor's. Comparisons ask nobody."""

    def call(x, y):
        other = y if isinstance(x, Tensor) else x
        if _stands_alone(other):
            return NotImplemented
        if reflected and other is y and getattr(y, "__array_priority__", 0) > 100:
            handed = getattr(y, reflected, None)
            return NotImplemented if handed is None else handed(x)
        if op and not _weft.in_graph() and other is y and x.dtype is dtypes.string and not isinstance(y, Tensor):
            y = _weft.convert(y, x.dtype, None)
        try:
            x, y = (_in_graph(x, y, op) if _weft.in_graph() else None) or tensors(x, y)
        except (TypeError, ValueError) as error:
            # The other side may know what to do with a tensor; it is given one, also where a variable stands on the left.
            if (
                reflected
                and other is y
                and hasattr(type(other), reflected)
                and not isinstance(other, (int, float, complex, str, bytes, list, tuple))
            ):
                result = getattr(other, reflected)(x)
                if result is not NotImplemented:
                    return result
            raise _in_words_of_graphs(error, x, y, op) from None
        return function(x, y)

    return call


def _add(x, y):
    return (raw.Add if x.dtype is dtypes.string else raw.AddV2)(x=x, y=y, name="add" if _weft.in_graph() else None)


def _truediv(x, y):
    from weft._src.ops import math_ops

    return math_ops.truediv(x, y, name="truediv" if _weft.in_graph() else None)


def _pow(x, y):
    return raw.Pow(x=x, y=y, name="pow" if _weft.in_graph() else None)


def _matmul(x, y):
    if _promotion is not None:
        from weft._src.numpy.reductions import matmul

        return matmul(x, y)
    from weft._src.ops import math_ops

    return math_ops.matmul(x, y, name="matmul" if _weft.in_graph() else None)


def _and(x, y):
    return (raw.LogicalAnd if x.dtype is dtypes.bool else raw.BitwiseAnd)(
        x=x, y=y, name="and" if _weft.in_graph() else None
    )


def _or(x, y):
    return (raw.LogicalOr if x.dtype is dtypes.bool else raw.BitwiseOr)(
        x=x, y=y, name="or" if _weft.in_graph() else None
    )


def _xor(x, y):
    if x.dtype is dtypes.bool:
        from weft._src.ops import _direct, math_ops

        with _direct.scope(None, "xor") as name:
            return math_ops.logical_xor(x, y, name=name)
    return raw.BitwiseXor(x=x, y=y, name="xor" if _weft.in_graph() else None)


def _named(op, name):
    def call(x, y):
        return op()(x=x, y=y, name=name if _weft.in_graph() else None)

    return call


def _equality(op, same):
    def call(x, y):
        """Elementwise; nothing but None is unequal without being compared."""
        if x is None or y is None:
            return same is False
        other = y if isinstance(x, Tensor) else x
        if _stands_alone(other):
            return NotImplemented
        graph = None if not _weft.in_graph() else _weft.current_graph()
        own = x if isinstance(x, Tensor) else y
        around = own.graph if isinstance(own, SymbolicTensor) else graph
        if around is not None and not around.building_function:
            return (x is y) is same
        try:
            x, y = (_in_graph(x, y, op) if graph is not None else None) or _compared(x, y)
        except ValueError as error:
            raise _in_words_of_graphs(error, x, y, op) from None
        return op()(x=x, y=y, incompatible_shape_error=False)

    return call


def _one_op(op, name, reflected, tensors=_tensors):
    return _operator(_named(op, name), reflected, tensors, op)


# In the order of the extension's list (operators.h). Ops are looked up when they are first used.
TABLE = [
    _operator(_add, "__radd__"),
    _one_op(lambda: raw.Sub, "sub", "__rsub__"),
    _one_op(lambda: raw.Mul, "mul", "__rmul__"),
    _operator(_truediv, "__rtruediv__"),
    _one_op(lambda: raw.FloorDiv, "floordiv", "__rfloordiv__"),
    _one_op(lambda: raw.FloorMod, "mod", "__rmod__"),
    _operator(_pow, "__rpow__", op=lambda: raw.Pow),
    _operator(_matmul, "__rmatmul__"),
    _operator(_and, "__rand__"),
    _operator(_or, "__ror__"),
    _operator(_xor, "__rxor__"),
    _one_op(lambda: raw.Less, None, None, _compared),
    _one_op(lambda: raw.LessEqual, None, None, _compared),
    _equality(lambda: raw.Equal, True),
    _equality(lambda: raw.NotEqual, False),
    _one_op(lambda: raw.Greater, None, None, _compared),
    _one_op(lambda: raw.GreaterEqual, None, None, _compared),
]
