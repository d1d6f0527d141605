"""Elementwise ops."""

import numpy as np

from op_cases.base import case, floats, integers, ops_of, raw, rows, square

_ANY = "Neg Abs Square Exp Sigmoid Tanh Sin Cos Tan Sinh Cosh Atan Asinh Erf Erfc Sign Rint Floor Ceil Round ZerosLike OnesLike Inv Reciprocal Expm1 IsNan IsInf IsFinite Identity".split()
_POSITIVE = "Sqrt Rsqrt Log Log1p Lgamma Digamma".split()
_UNIT = "Asin Acos Atanh Ndtri Erfinv".split()


@case(*_ANY)
def _any(tf, n, op, kind):
    return raw(tf, op, **{"input" if op == "Identity" else "x": floats(n)})


@case(*_POSITIVE)
def _positive(tf, n, op, kind):
    return raw(tf, op, x=floats(n, low=0.1, high=9))


@case("Acosh")
def _above_one(tf, n, op, kind):
    return raw(tf, op, x=floats(n, low=1, high=9))


@case(*_UNIT)
def _unit(tf, n, op, kind):
    return raw(tf, op, x=floats(n, low=0.01, high=0.99))


@case(*ops_of("features"))
def _features(tf, n, op, kind):
    return raw(tf, op, features=floats(n))


@case("LeakyRelu")
def _leaky(tf, n, op, kind):
    return raw(tf, op, features=floats(n), alpha=0.1)


@case("Exp/double", "Tanh/double", "Sqrt/double", "Log/double", "Square/double")
def _double(tf, n, op, kind):
    return raw(tf, op, x=floats(n, low=0.1, dtype="float64"))


@case("Exp/half", "Tanh/half", "Sigmoid/half")
def _half(tf, n, op, kind):
    return raw(tf, op, x=floats(n, dtype="float16"))


@case("Abs/int32", "Neg/int32", "Square/int32", "Sign/int32", "Abs/int64", "Sign/int64")
def _unary_integer(tf, n, op, kind):
    return raw(tf, op, x=integers(n, low=-100).astype(kind))


_BINARY = "Add AddV2 Sub Mul Maximum Minimum SquaredDifference Equal NotEqual Less LessEqual Greater GreaterEqual Atan2".split()
_QUOTIENTS = "RealDiv Div DivNoNan FloorDiv FloorMod Mod TruncateMod Xdivy".split()


@case(*_BINARY)
def _binary(tf, n, op, kind):
    a, b = floats(n), floats(n)[::-1].copy()
    return raw(tf, op, y=a, x=b)


@case(*_QUOTIENTS)
def _quotient(tf, n, op, kind):
    return raw(tf, op, x=floats(n), y=floats(n, low=0.5, high=3))


@case("Pow", "Xlogy", "Xlog1py", "Igamma", "Igammac", "NextAfter")
def _power(tf, n, op, kind):
    first, second = ("a", "x") if op.startswith("Igamma") else ("x1", "x2") if op == "NextAfter" else ("x", "y")
    return raw(tf, op, **{first: floats(n, low=0.1, high=3), second: floats(n, low=0.2, high=2)})


@case(
    "AddV2/scalar",
    "Mul/scalar",
    "RealDiv/scalar",
    "Maximum/scalar",
    "Greater/scalar",
    "FloorDiv/scalar",
    "Pow/scalar",
    "Atan2/scalar",
)
def _scalar(tf, n, op, kind):
    a, b = floats(n, low=0.1), np.float32(2).reshape(())
    return raw(tf, op, y=a, x=b) if op == "Atan2" else raw(tf, op, x=a, y=b)


@case("AddV2/row", "Mul/row", "Sub/row", "RealDiv/row", "Equal/row", "FloorDiv/row", "Pow/row")
def _row(tf, n, op, kind):
    return raw(tf, op, x=floats(*rows(n), low=0.1), y=floats(64, low=0.5))


@case("AddV2/column", "Mul/column", "Sub/column", "RealDiv/column", "Less/column", "FloorMod/column")
def _column(tf, n, op, kind):
    return raw(tf, op, x=floats(*rows(n)), y=floats(rows(n)[0], 1, low=0.5))


@case("AddV2/outer", "Mul/outer")
def _outer(tf, n, op, kind):
    side = square(n)[0]
    return raw(tf, op, x=floats(side, 1), y=floats(1, side))


@case(
    *[
        f"{op}/{t}"
        for t in ("int32", "int64")
        for op in "AddV2 Mul Maximum Equal Less FloorDiv FloorMod SquaredDifference".split()
    ]
)
def _binary_integer(tf, n, op, kind):
    return raw(tf, op, x=integers(n, low=-100).astype(kind), y=integers(n, low=1).astype(kind))


@case("FloorDiv/int scalar", "FloorMod/int scalar", "TruncateDiv/int scalar")
def _integer_scalar(tf, n, op, kind):
    return raw(tf, op, x=integers(n, low=-1000, high=1000), y=np.int32(7).reshape(()))


@case("TruncateDiv")
def _truncate(tf, n, op, kind):
    return raw(tf, op, x=integers(n, low=-100), y=integers(n, low=1))


@case("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift")
def _bits(tf, n, op, kind):
    return raw(tf, op, x=integers(n), y=integers(n, high=8))


@case("Invert", "PopulationCount")
def _invert(tf, n, op, kind):
    return raw(tf, op, x=integers(n))


@case("LogicalAnd", "LogicalOr")
def _logical(tf, n, op, kind):
    return raw(tf, op, x=floats(n) > 0, y=floats(n) > 1)


@case("LogicalNot")
def _not(tf, n, op, kind):
    return raw(tf, op, x=floats(n) > 0)


@case(*ops_of("gradients", "features"))
def _feature_gradient(tf, n, op, kind):
    return raw(tf, op, gradients=floats(n), features=floats(n)[::-1].copy())


@case(*ops_of("gradients", "outputs"))
def _output_gradient(tf, n, op, kind):
    return raw(tf, op, gradients=floats(n), outputs=floats(n)[::-1].copy())


@case(*ops_of("y", "dy"))
def _y_gradient(tf, n, op, kind):
    return raw(tf, op, y=floats(n, low=0.1), dy=floats(n))


@case("AddN")
def _add_n(tf, n, op, kind):
    return raw(tf, op, inputs=[floats(n) for _ in range(4)])


@case("Select", "SelectV2")
def _select(tf, n, op, kind):
    names = ("condition", "x", "y") if op == "Select" else ("condition", "t", "e")
    return raw(tf, op, **dict(zip(names, (floats(n) > 0, floats(n), floats(n)))))


@case("SelectV2/scalar")
def _select_scalar(tf, n, op, kind):
    return raw(tf, op, condition=floats(n) > 0, t=floats(n), e=np.float32(0).reshape(()))


@case("ClipByValue")
def _clip(tf, n, op, kind):
    return raw(tf, op, t=floats(n), clip_value_min=np.float32(-1).reshape(()), clip_value_max=np.float32(1).reshape(()))


_CASTS = (
    "float32 int32,float32 float64,int32 float32,int64 float32,uint8 float32,float32 uint8,float32 float16,float16 float32,bool float32,float32 bool,"
    "int32 int64,int64 int32"
)


@case(*[f"Cast/{types}" for types in _CASTS.split(",")])
def _cast(tf, n, op, kind):
    source, target = kind.split()
    return raw(tf, op, x=integers(n, high=2 if source == "bool" else 100).astype(source), DstT=tf.as_dtype(target))


@case("Bitcast")
def _bitcast(tf, n, op, kind):
    return raw(tf, op, input=floats(n), type=tf.int32)


@case("CheckNumerics")
def _check(tf, n, op, kind):
    return raw(tf, op, tensor=floats(n), message="")


@case("Bucketize")
def _bucketize(tf, n, op, kind):
    return raw(tf, op, input=floats(n), boundaries=[-1.0, -0.5, 0.0, 0.5, 1.0])


@case("Complex", "ComplexAbs", "Conj", "Real", "Imag", "Angle")
def _complex(tf, n, op, kind):
    if op == "Complex":
        return raw(tf, op, real=floats(n), imag=floats(n))
    return raw(tf, op, **{"x" if op == "ComplexAbs" else "input": (floats(n) + 1j * floats(n)).astype("complex64")})
