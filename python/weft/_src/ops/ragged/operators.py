"""Python's operators on ragged tensors."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.errors import InvalidArgumentError
from weft._src.ops.ragged.broadcast import binary, unary


def _binary(op):
    def call(x, y):
        from weft._src.ops import math_ops

        def function(a, b):
            if hasattr(math_ops, op):
                return getattr(math_ops, op)(a, b)
            return getattr(raw, "Add" if op == "AddV2" and a.dtype is dtypes.string else op)(x=a, y=b)

        return binary(function, x, y)

    return call


add_, sub_, mul_, truediv_, floordiv_ = (_binary(n) for n in ("AddV2", "Sub", "Mul", "truediv", "FloorDiv"))
mod_, pow_ = _binary("FloorMod"), _binary("pow")
lt_, le_, gt_, ge_ = (_binary(n) for n in ("Less", "LessEqual", "Greater", "GreaterEqual"))


def _logical(logical, bitwise):
    def function(a, b):
        return getattr(raw, logical if a.dtype is dtypes.bool else bitwise)(x=a, y=b)

    return lambda x, y: binary(function, x, y)


def _xor(a, b):
    from weft._src.ops import math_ops

    return math_ops.logical_xor(a, b) if a.dtype is dtypes.bool else raw.BitwiseXor(x=a, y=b)


and_, or_ = _logical("LogicalAnd", "BitwiseAnd"), _logical("LogicalOr", "BitwiseOr")


def xor_(x, y):
    return binary(_xor, x, y)


def _equality(op, otherwise):
    def call(x, y):
        if x is None or y is None:
            return otherwise
        try:
            return binary(lambda a, b: getattr(raw, op)(x=a, y=b), x, y)
        except (ValueError, InvalidArgumentError):
            return otherwise  # what cannot be compared is not equal

    return call


eq_, ne_ = _equality("Equal", False), _equality("NotEqual", True)


def neg_(x):
    return unary(lambda v: raw.Neg(x=v), x)


def abs_(x):
    from weft._src.ops import math_ops

    return unary(math_ops.abs, x)


def invert_(x):
    return unary(lambda v: raw.LogicalNot(x=v) if v.dtype is dtypes.bool else raw.Invert(x=v), x)
