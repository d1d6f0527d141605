"""`tf.Tensor.__add__` and its like as functions of any two objects: libraries put them into classes of their own, whose calls are then taken over (dispatch.py).

Operators of tensors themselves are the engine's; only who asks the class for one comes here."""

import functools

from weft import _weft

# What an operator is for objects that are no tensors: the function of the API that is asked.
_FUNCTIONS = {
    "add": "__operators__.add",
    "sub": "math.subtract",
    "mul": "math.multiply",
    "truediv": "math.truediv",
    "floordiv": "math.floordiv",
    "mod": "math.floormod",
    "pow": "math.pow",
    "matmul": "linalg.matmul",
    "div": "compat.v1.div",
    "and": "math.logical_and",
    "or": "math.logical_or",
    "xor": "math.logical_xor",
    "lt": "math.less",
    "le": "math.less_equal",
    "gt": "math.greater",
    "ge": "math.greater_equal",
    "eq": "__operators__.eq",
    "ne": "__operators__.ne",
    "neg": "math.negative",
    "abs": "math.abs",
    "invert": "math.logical_not",
    "getitem": "__operators__.getitem",
}
_UNARY = ("neg", "abs", "invert")
NAMES = frozenset(
    f"__{prefix}{name}__"
    for name in _FUNCTIONS
    for prefix in (("",) if name in (*_UNARY, "getitem", "lt", "le", "gt", "ge", "eq", "ne") else ("", "r"))
)


def _api(name):
    import weft

    return functools.reduce(getattr, _FUNCTIONS[name].split("."), weft)


def _left(self, other):
    """The left side of an operator that the right side has: a tensor of its type."""
    from weft._src.framework.convert import convert_to_tensor

    dtype = getattr(self, "dtype", None)
    return convert_to_tensor(other, None, None if dtype is None else dtype.base_dtype)


@functools.cache
def function_of(name):
    """The function for one of NAMES."""
    plain = name.strip("_")
    reflected = plain not in _FUNCTIONS
    plain = plain[1:] if reflected else plain

    def operator(self, *other):
        if isinstance(self, _weft.TensorBase):
            own = getattr(self, name)
            return own(*other)
        if reflected:
            return _api(plain)(_left(self, *other), self)
        return _api(plain)(self, *other)

    operator.__name__, operator.__qualname__ = name, f"Tensor.{name}"
    return operator


class TensorType(type):
    """The class of tf.Tensor."""

    def __getattribute__(cls, name):
        if name in NAMES:
            return function_of(name)
        return type.__getattribute__(cls, name)
