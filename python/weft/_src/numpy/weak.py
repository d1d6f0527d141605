"""Functions and operators under `dtype_conversion_mode="all"` and "safe": their arguments are brought to one type, and what comes of weak ones is weak.

The functions of the package are replaced where they stand when the mode is first chosen; programs that never choose it run what they always ran.
"""

import functools
import inspect
import sys

import weft as tf
from weft import _weft
from weft._src.numpy import types
from weft._src.framework import operators
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.tensor import Tensor
from weft._src.framework.weak_tensor import PromoMode, WeakTensor, result_type

# By public namespace. What comes of a weak argument is weak, unless dtype= is given.
_UNARY = {
    "": "clip_by_value expand_dims identity ones_like reshape squeeze stop_gradient transpose zeros_like",
    "math": """abs acos acosh angle asin asinh atan atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e ceil conj cos cosh digamma erf erfc erfcinv erfinv
        exp expm1 floor imag lgamma log log1p log_sigmoid ndtri negative real reciprocal reciprocal_no_nan reduce_euclidean_norm reduce_logsumexp
        reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance rint round rsqrt sigmoid sign sin sinh softplus sqrt
        square tan tanh""",
    "math.special": "bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin spence",
    "debugging": "check_numerics",
    "nn": "depth_to_space gelu leaky_relu log_softmax relu6 silu space_to_depth",
    "image": "extract_patches",
    "linalg": "diag diag_part matrix_transpose tensor_diag_part trace",
    "experimental.numpy": """abs absolute amax amin angle arange arccos arcsin arcsinh arctan arctanh around array asanyarray asarray ascontiguousarray
        average bitwise_not cbrt ceil conj conjugate copy cos cosh cumprod cumsum deg2rad diag diagflat diagonal diff
        empty_like exp exp2 expand_dims expm1 fabs fix flatten flip fliplr flipud floor full_like imag log log10 log1p log2 max mean min moveaxis
        nanmean negative ones_like positive prod ptp rad2deg ravel real reciprocal repeat reshape rot90 round sign sin sinc sinh sort sqrt square
        squeeze std sum swapaxes tan tanh trace transpose triu vander var zeros_like""",
}
# Both arguments are brought to one type.
_BINARY = {
    "": "realdiv truncatediv truncatemod",
    "math": "add divide divide_no_nan floordiv floormod mod multiply multiply_no_nan pow subtract truediv",
    "linalg": "matmul matvec",
    "experimental.numpy": "hypot matmul",
}
_NEVER_WEAK = {"math": "equal maximum minimum"}
_mode = None  # or PromoMode.SAFE, PromoMode.ALL
_replaced = False


def set_mode(mode):
    """SAFE or ALL: functions and operators promote from here on; None: no longer."""
    global _mode, _replaced
    _mode = mode
    types.set_rule(None if mode is None else lambda *values: result_type(_mode, *values)[0])
    if mode is not None and not _replaced:
        _replaced = True
        _replace()


def _on():
    return _mode is not None


def _as(x, dtype):
    if isinstance(x, WeakTensor):
        x = x.tensor
    if isinstance(x, (Tensor, _weft.VariableBase)) or getattr(type(x), "_is_composite", False):
        return tf.cast(x, dtype)
    return convert_to_tensor(x, dtype)


def _finished(result, weak):
    if weak:
        return WeakTensor.from_tensor(result.tensor if isinstance(result, WeakTensor) else result)
    return result.tensor if isinstance(result, WeakTensor) else result


def _unary(function, argument=None):
    signature = inspect.signature(function)
    argument = argument or next(iter(signature.parameters))

    @functools.wraps(function)
    def call(*args, **kwargs):
        if not _on():
            return function(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        x = bound.arguments[argument]
        if isinstance(x, Tensor) or bound.arguments.get("dtype") is not None:
            return function(*args, **kwargs)
        try:
            dtype, weak = result_type(_mode, x)
        except NotImplementedError:
            return function(*args, **kwargs)
        bound.arguments[argument] = _as(x, dtype)
        return _finished(function(*bound.args, **bound.kwargs), weak)

    return call


def _binary(function, may_be_weak=True):
    signature = inspect.signature(function)
    first, second = list(signature.parameters)[:2]

    @functools.wraps(function)
    def call(*args, **kwargs):
        if not _on():
            return function(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        x, y = bound.arguments[first], bound.arguments[second]
        try:
            dtype, weak = result_type(_mode, x, y)
        except NotImplementedError:
            return function(*args, **kwargs)
        bound.arguments[first], bound.arguments[second] = _as(x, dtype), _as(y, dtype)
        return _finished(function(*bound.args, **bound.kwargs), weak and may_be_weak)

    return call


def _plain(function):
    """For functions that tell composite values from tensors: a weak tensor is a tensor to them."""

    @functools.wraps(function)
    def call(x, *args, **kwargs):
        return function(x.tensor if isinstance(x, WeakTensor) else x, *args, **kwargs)

    return call


def _constant(function):
    @functools.wraps(function)
    def constant(value, dtype=None, shape=None, name="Const"):
        if not _on():
            return function(value, dtype, shape, name)
        dtype = None if dtype is None else types.as_type(dtype)
        try:
            found, weak = result_type(_mode, value, dtype)
        except NotImplementedError:
            return function(value, dtype, shape, name)
        tensor = value.tensor if isinstance(value, WeakTensor) else value
        if dtype is None:
            return _finished(function(tensor, found, shape, name), weak)
        if found is dtype and isinstance(tensor, Tensor):
            tensor = _as(tensor, dtype)
        return function(tensor, dtype, shape, name)

    return constant


def _method(function):
    """Of variables, whose type stays."""

    @functools.wraps(function)
    def call(self, value, *args, **kwargs):
        if _on():
            try:
                dtype, _ = result_type(_mode, self, value)
            except NotImplementedError:
                return function(self, value, *args, **kwargs)
            if dtype != self.dtype:
                name = function.__name__
                raise TypeError(
                    f"Variable dtype is immutable. Calling {name} of Variable (with dtype {self.dtype}) on {value} requires converting {value} to "
                    f"{self.dtype}. This is disabled in the current promotion semantics. Please convert {value} manually before calling {name}."
                )
            value = _as(value, dtype)
        return function(self, value, *args, **kwargs)

    return call


# ---- operators ------------------------------------------------------------------------------------------------

_NAMES = "add sub mul truediv floordiv mod pow matmul and or xor lt le eq ne gt ge".split()  # in the order of the table


def _operator(name, plain):
    if name in ("and", "or", "xor", "lt", "le", "ne", "gt", "ge"):  # TensorFlow leaves these as they are

        def call(x, y):
            if _mode is PromoMode.SAFE and isinstance(x, WeakTensor) and not tf.is_tensor(y):
                result_type(_mode, y, x.dtype)
            return plain(*(v.tensor if isinstance(v, WeakTensor) else v for v in (x, y)))

        return call

    def call(x, y):
        if not _on():
            return plain(x, y)
        try:
            dtype, weak = result_type(_mode, x, y)
        except NotImplementedError:
            return plain(x, y)
        return _finished(plain(_as(x, dtype), _as(y, dtype)), weak and name != "eq")

    return call


def _replace():
    table = [_operator(name, plain) for name, plain in zip(_NAMES, operators.TABLE)]
    _weft.set_hooks({"binary": table})
    for name, call in zip(_NAMES, table):
        setattr(WeakTensor, f"__{name}__", lambda self, other, call=call: call(self, other))
        if name not in ("lt", "le", "eq", "ne", "gt", "ge"):
            setattr(WeakTensor, f"__r{name}__", lambda self, other, call=call: call(other, self))

    from weft._src.framework import convert
    from weft._src.trackable.variable import Variable

    new = {convert.constant: _constant(convert.constant), tf.cast: _plain(tf.cast)}
    new[convert.constant_value] = _plain(convert.constant_value)
    new[tf.scalar_mul] = _unary(tf.scalar_mul, "x")  # the scalar takes the other's type
    for table, wrap in ((_UNARY, _unary), (_BINARY, _binary), (_NEVER_WEAK, lambda f: _binary(f, False))):
        for namespace, names in table.items():
            module = _namespace(namespace)
            for name in names.split():
                function = getattr(module, name)
                if function not in new:
                    new[function] = wrap(function)
    by_identity = {id(old): made for old, made in new.items()}
    for name, module in list(sys.modules.items()):
        if (name == "weft" or name.startswith("weft.")) and name != __name__:
            for key, value in list(vars(module).items()):
                if id(value) in by_identity:
                    vars(module)[key] = by_identity[id(value)]
    for name in ("assign", "assign_add", "assign_sub"):
        setattr(Variable, name, _method(getattr(Variable, name)))
    WeakTensor.__neg__, WeakTensor.__abs__, WeakTensor.__invert__ = tf.negative, tf.abs, _unary(tf.bitwise.invert)
    WeakTensor.__round__ = tf.experimental.numpy.around


def _namespace(name):
    return functools.reduce(getattr, filter(None, name.split(".")), tf)
