"""Functions of each element."""

import math

import numpy as np

import weft as tf
from weft._src.raw import raw
from weft._src.numpy.types import as_tensor, default_float, floating, promoted


def _unary_float(name, function):
    def call(x):
        return function(floating(x))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"numpy.{name} of each element."
    return call


_FLOAT = {
    "arccos": tf.acos,
    "arccosh": tf.acosh,
    "arcsin": tf.asin,
    "arcsinh": tf.asinh,
    "arctan": tf.atan,
    "arctanh": tf.atanh,
    "cos": tf.cos,
    "cosh": tf.cosh,
    "sin": tf.sin,
    "sinh": tf.sinh,
    "tan": tf.tan,
    "tanh": tf.tanh,
    "exp": tf.exp,
    "expm1": tf.math.expm1,
    "log": tf.math.log,
    "log1p": tf.math.log1p,
    "sqrt": tf.sqrt,
    "log2": lambda x: tf.math.log(x) / math.log(2),
    "log10": lambda x: tf.math.log(x) / math.log(10),
    "exp2": lambda x: tf.exp(x * math.log(2)),
    "ceil": tf.math.ceil,
    "floor": tf.floor,
    "rad2deg": lambda x: x * (180 / math.pi),
    "deg2rad": lambda x: x * (math.pi / 180),
    "cbrt": lambda x: tf.sign(x) * tf.pow(tf.abs(x), 1 / 3),
    "fix": lambda x: tf.where(x < 0, tf.math.ceil(x), tf.floor(x)),
    "sinc": lambda x: tf.where(
        x == 0, tf.ones_like(x), tf.sin(x * math.pi) / tf.where(x == 0, tf.ones_like(x), x * math.pi)
    ),
    "fabs": tf.abs,
}
globals().update({name: _unary_float(name, function) for name, function in _FLOAT.items()})


def _unary(name, function):
    def call(x):
        return function(as_tensor(x))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"numpy.{name} of each element."
    return call


def _is(check, other):
    def call(x):
        x = as_tensor(x)
        return check(x) if x.dtype.is_floating else tf.fill(tf.shape(x), other)

    return call


def _abs(x):
    return tf.cast(tf.abs(tf.cast(x, tf.int32)), tf.bool) if x.dtype == tf.bool else tf.abs(x)


_PLAIN = {
    "abs": _abs,
    "absolute": _abs,
    "negative": tf.negative,
    "positive": tf.identity,
    "square": tf.square,
    "reciprocal": lambda x: 1 / x if x.dtype.is_floating else tf.ones_like(x) // x,
    "conj": tf.math.conj,
    "conjugate": tf.math.conj,
    "bitwise_not": lambda x: tf.logical_not(x) if x.dtype == tf.bool else raw.Invert(x=x),
    "signbit": lambda x: x < 0 if not x.dtype.is_floating else tf.logical_or(x < 0, tf.logical_and(x == 0, 1 / x < 0)),
    "isreal": lambda x: tf.math.imag(x) == 0 if x.dtype.is_complex else tf.ones_like(x, tf.bool),
    "iscomplex": lambda x: tf.math.imag(x) != 0 if x.dtype.is_complex else tf.zeros_like(x, tf.bool),
}
globals().update({name: _unary(name, function) for name, function in _PLAIN.items()})
isnan, isinf, isfinite = _is(tf.math.is_nan, False), _is(tf.math.is_inf, False), _is(tf.math.is_finite, True)
isposinf, isneginf = _is(lambda x: x == math.inf, False), _is(lambda x: x == -math.inf, False)


def sign(x, out=None, where=None, **kwargs):
    x = as_tensor(x)
    return tf.sign(x)


def real(val):
    """numpy.real of each element."""
    val = as_tensor(val)
    return tf.math.real(val) if val.dtype.is_complex else val


def imag(val):
    """numpy.imag of each element."""
    val = as_tensor(val)
    return tf.math.imag(val) if val.dtype.is_complex else tf.zeros_like(val)


def angle(z, deg=False):
    z = as_tensor(z)
    made = (
        tf.math.angle(z)
        if z.dtype.is_complex
        else tf.where(floating(z) < 0, tf.cast(math.pi, floating(z).dtype), tf.zeros_like(floating(z)))
    )
    return made * (180 / math.pi) if deg else made


def iscomplexobj(x):
    return as_tensor(x).dtype.is_complex


def isrealobj(x):
    return not iscomplexobj(x)


# ---- of two ----------------------------------------------------------------------------------------------


def _binary(name, function, to_float=False):
    def call(x1, x2):
        x1, x2 = promoted(x1, x2)
        if to_float and not (x1.dtype.is_floating or x1.dtype.is_complex):
            x1, x2 = tf.cast(x1, default_float()), tf.cast(x2, default_float())
        return function(x1, x2)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"numpy.{name} of each pair of elements."
    return call


def _for_bool(function, instead):
    return lambda a, b: instead(a, b) if a.dtype == tf.bool else function(a, b)


def _either(bitwise, logical):
    return lambda a, b: (logical if a.dtype == tf.bool else bitwise)(x=a, y=b)


def _gcd(a, b):
    a, b = tf.abs(a), tf.abs(b)
    a, b = a + tf.zeros_like(b), b + tf.zeros_like(a)
    return tf.while_loop(
        lambda x, y: tf.reduce_any(y != 0),
        lambda x, y: (
            tf.where(y != 0, y, x),
            tf.where(y != 0, x % tf.where(y != 0, y, tf.ones_like(y)), tf.zeros_like(y)),
        ),
        (a, b),
    )[0]


def _lcm(a, b):
    d = _gcd(a, b)
    return tf.where(d == 0, tf.zeros_like(d), tf.abs(a * b) // tf.where(d == 0, tf.ones_like(d), d))


def _heaviside(a, b):
    return tf.where(a < 0, tf.zeros_like(a), tf.where(a > 0, tf.ones_like(a), b))


def _logaddexp(a, b):
    top = tf.maximum(a, b)
    difference = a - b
    return tf.where(tf.math.is_nan(difference), a + b, top + tf.math.log1p(tf.exp(-tf.abs(difference))))


_TWO = {
    "add": _for_bool(tf.add, tf.logical_or),
    "subtract": tf.subtract,
    "multiply": _for_bool(tf.multiply, tf.logical_and),
    "floor_divide": tf.math.floordiv,
    "mod": tf.math.floormod,
    "remainder": tf.math.floormod,
    "power": tf.pow,
    "float_power": tf.pow,
    "maximum": _for_bool(tf.maximum, tf.logical_or),
    "minimum": _for_bool(tf.minimum, tf.logical_and),
    "equal": tf.equal,
    "not_equal": tf.not_equal,
    "less": tf.less,
    "less_equal": tf.less_equal,
    "greater": tf.greater,
    "greater_equal": tf.greater_equal,
    "bitwise_and": _either(raw.BitwiseAnd, raw.LogicalAnd),
    "bitwise_or": _either(raw.BitwiseOr, raw.LogicalOr),
    "bitwise_xor": lambda a, b: tf.math.logical_xor(a, b) if a.dtype == tf.bool else raw.BitwiseXor(x=a, y=b),
    "gcd": _gcd,
    "lcm": _lcm,
}
_TWO_FLOAT = {
    "divide": tf.truediv,
    "true_divide": tf.truediv,
    "arctan2": tf.math.atan2,
    "hypot": lambda a, b: tf.sqrt(a * a + b * b),
    "heaviside": _heaviside,
    "logaddexp": _logaddexp,
    "logaddexp2": lambda a, b: _logaddexp(a * math.log(2), b * math.log(2)) / math.log(2),
    "nextafter": tf.math.nextafter,
}
globals().update({name: _binary(name, function) for name, function in _TWO.items()})
globals().update({name: _binary(name, function, True) for name, function in _TWO_FLOAT.items()})


def _truth(x):
    x = as_tensor(x)
    return x if x.dtype == tf.bool else x != 0


def logical_and(x1, x2):
    return tf.logical_and(_truth(x1), _truth(x2))


def logical_or(x1, x2):
    return tf.logical_or(_truth(x1), _truth(x2))


def logical_xor(x1, x2):
    return tf.math.logical_xor(_truth(x1), _truth(x2))


def logical_not(x):
    return tf.logical_not(_truth(x))


def divmod(x1, x2):
    return floor_divide(x1, x2), mod(x1, x2)  # noqa: F821


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    a, b = promoted(a, b)
    if not a.dtype.is_floating:
        return tf.equal(a, b)
    close = tf.abs(a - b) <= atol + rtol * tf.abs(b)
    close = tf.logical_or(tf.equal(a, b), tf.logical_and(close, tf.math.is_finite(b)))
    return tf.logical_or(close, tf.logical_and(tf.math.is_nan(a), tf.math.is_nan(b))) if equal_nan else close


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return tf.reduce_all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1, a2):
    a1, a2 = promoted(a1, a2)
    if a1.shape != a2.shape:
        return tf.constant(False)
    return tf.reduce_all(tf.equal(a1, a2))


def around(a, decimals=0):
    a = as_tensor(a)
    work = floating(a)
    scale = 10.0**decimals
    return tf.cast(tf.round(work * scale) / scale, a.dtype)


round = around


def clip(a, a_min, a_max):
    given = [v for v in (a, a_min, a_max) if v is not None]
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    dtype = promoted(*given)[0].dtype
    a = as_tensor(a, dtype)
    if a_min is not None:
        a = tf.maximum(a, as_tensor(a_min, dtype))
    return a if a_max is None else tf.minimum(a, as_tensor(a_max, dtype))


def where(condition, x=None, y=None):
    condition = _truth(condition)
    if x is None and y is None:
        from weft._src.numpy.arrays import nonzero

        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    x, y = promoted(x, y)
    return tf.where(condition, x, y)


def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError(f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})")
    made = as_tensor(default)
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        made = where(condition, choice, made)
    return made


def isscalar(num):
    return np.isscalar(num) or as_tensor(num).shape.rank == 0
