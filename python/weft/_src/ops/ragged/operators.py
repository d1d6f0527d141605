"""Python's operators on ragged tensors."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.errors import InvalidArgumentError
from weft._src.ops.ragged.broadcast import binary, unary


def _binary(op):
    return lambda x, y: binary(lambda a, b: op(x=a, y=b), x, y)


def _of_math_ops(name):
    def call(x, y):
        from weft._src.ops import math_ops

        return binary(getattr(math_ops, name), x, y)

    return call


def add_(x, y):
    return binary(lambda a, b: (raw.Add if a.dtype is dtypes.string else raw.AddV2)(x=a, y=b), x, y)


sub_, mul_, floordiv_, mod_ = map(_binary, (raw.Sub, raw.Mul, raw.FloorDiv, raw.FloorMod))
truediv_, pow_ = _of_math_ops("truediv"), _of_math_ops("pow")
lt_, le_, gt_, ge_ = map(_binary, (raw.Less, raw.LessEqual, raw.Greater, raw.GreaterEqual))


def _logical(logical, bitwise):
    def function(a, b):
        return (logical if a.dtype is dtypes.bool else bitwise)(x=a, y=b)

    return lambda x, y: binary(function, x, y)


def _xor(a, b):
    from weft._src.ops import math_ops

    return math_ops.logical_xor(a, b) if a.dtype is dtypes.bool else raw.BitwiseXor(x=a, y=b)


and_, or_ = _logical(raw.LogicalAnd, raw.BitwiseAnd), _logical(raw.LogicalOr, raw.BitwiseOr)


def xor_(x, y):
    return binary(_xor, x, y)


def _equality(op, otherwise):
    def call(x, y):
        if x is None or y is None:
            return otherwise
        try:
            return binary(lambda a, b: op(x=a, y=b), x, y)
        except (ValueError, InvalidArgumentError):
            return otherwise  # what cannot be compared is not equal

    return call


eq_, ne_ = _equality(raw.Equal, False), _equality(raw.NotEqual, True)


def neg_(x):
    return unary(lambda v: raw.Neg(x=v), x)


def abs_(x):
    from weft._src.ops import math_ops

    return unary(math_ops.abs, x)


def invert_(x):
    return unary(lambda v: raw.LogicalNot(x=v) if v.dtype is dtypes.bool else raw.Invert(x=v), x)
