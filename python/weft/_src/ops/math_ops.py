"""tf.math: elementwise functions; reductions, products and clipping come from the modules beside this one."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.tensor import Tensor
from weft._src.ops._direct import define, scope
from weft._src.ops.clip_ops import clip_by_global_norm, clip_by_norm, clip_by_value, global_norm  # noqa: F401
from weft._src.ops.creation_ops import linspace, range  # noqa: F401
from weft._src.ops.product_ops import einsum, matmul, matvec, tensordot  # noqa: F401
from weft._src.ops.reduction_ops import (  # noqa: F401
    argmax,
    argmin,
    bincount,
    confusion_matrix,
    count_nonzero,
    cumprod,
    cumsum,
    cumulative_logsumexp,
    histogram_fixed_width,
    histogram_fixed_width_bins,
    reduce_all,
    reduce_any,
    reduce_euclidean_norm,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_std,
    reduce_sum,
    reduce_variance,
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    trace,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from weft._src.ops.search_ops import approx_max_k, approx_min_k, in_top_k, top_k  # noqa: F401

define(
    globals(),
    """
acos x
acosh x
asin x
asinh x
atan x
atan2 y, x
atanh x
betainc a, b, x
bessel_i0 x
bessel_i0e x
bessel_i1 x
bessel_i1e x
bessel_j0 x
bessel_j1 x
bessel_k0 x
bessel_k0e x
bessel_k1 x
bessel_k1e x
bessel_y0 x
bessel_y1 x
ceil x
cos x
cosh x
dawsn x
digamma x
divide_no_nan DivNoNan/div_no_nan x, y
equal x, y
erf x
erfc x
erfinv x
exp x
expint x
expm1 x
floor x
floordiv FloorDiv/floordiv x, y
floormod FloorMod x, y
fresnel_cos x
fresnel_sin x
greater x, y
greater_equal x, y
igamma a, x
igammac a, x
is_finite x
is_inf x
is_nan x
less x, y
less_equal x, y
lgamma x
log x
log1p x
logical_and x, y
logical_not x
logical_or x, y
maximum x, y
minimum x, y
multiply Mul x, y
multiply_no_nan MulNoNan x, y
negative Neg x
nextafter NextAfter x1, x2
not_equal x, y
polygamma a, x
realdiv RealDiv x, y
reciprocal x
rint x
rsqrt x
sin x
sinh x
softplus features
softsign features
spence x
sqrt x
square x
squared_difference x, y
subtract Sub x, y
tan x
tanh x
truncatediv TruncateDiv x, y
truncatemod TruncateMod x, y
xdivy x, y
xlogy x, y
zeta x, q
""",
)
mod = floormod  # noqa: F821


def invert(x, name=None):
    """What ~x is: not of booleans, the bits of integers."""
    return raw.LogicalNot(x=x, name=name) if x.dtype is dtypes.bool else raw.Invert(x=x, name=name)


@dispatchable
def cast(x, dtype, name=None):
    """The elements as another type."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, Tensor):
        return x if x.dtype is dtype else raw.Cast(x=x, DstT=dtype, name=name)
    if getattr(type(x), "_is_composite", False) and hasattr(x, "values") and hasattr(x, "indices"):
        return _cast_parts(x, dtype, name)
    with scope(name, "Cast") as name:
        x = convert_to_tensor(x, name="x")
        if x.dtype.base_dtype is dtype:
            return x
        return raw.Cast(x=x, DstT=dtype, name=name)


def _cast_parts(x, dtype, name):
    """Sparse tensors and indexed slices: their values."""
    values = cast(x.values, dtype, name)
    if hasattr(x, "dense_shape") and type(x).__name__ == "IndexedSlices":
        return type(x)(values, x.indices, x.dense_shape)
    return type(x)(x.indices, values, x.dense_shape)


@dispatchable
def saturate_cast(value, dtype, name=None):
    """The elements as another type; what it cannot hold becomes the nearest that it can."""
    with scope(name, "saturate_cast") as name:
        value = convert_to_tensor(value, name="value")
        dtype = dtypes.as_dtype(dtype).base_dtype
        if value.dtype is dtype:
            return value
        if value.dtype.is_complex:
            if dtype.is_complex:
                parts = [saturate_cast(part, dtype.real_dtype) for part in (real(value), imag(value))]
                return raw.Complex(real=parts[0], imag=parts[1], Tout=dtype)
            value = real(value)
        if dtype.is_complex:
            return cast(saturate_cast(value, dtype.real_dtype), dtype)
        low, high = _bounds(value.dtype, dtype)
        if low is not None and high is not None:
            low, high = convert_to_tensor(low, value.dtype), convert_to_tensor(high, value.dtype)
            value = raw.ClipByValue(t=value, clip_value_min=low, clip_value_max=high, name="clamp")
        elif low is not None:
            value = maximum(value, convert_to_tensor(low, value.dtype))  # noqa: F821
        elif high is not None:
            value = minimum(value, convert_to_tensor(high, value.dtype))  # noqa: F821
        return cast(value, dtype, name=name)


def _bounds(have, want):
    """The least and greatest of `have` that `want` holds; None where all are held."""
    import numpy as np

    kind = have.as_numpy_dtype
    low = high = None
    if have.is_bool or want.is_bool:
        return None, None
    if float(have.min) < float(want.min):
        low = kind(want.min)
        if float(low) < float(want.min):
            low = np.nextafter(low, kind(0))
    if float(have.max) > float(want.max):
        high = kind(want.max)
        if float(high) > float(want.max) or (want.is_integer and have.is_floating and int(high) > int(want.max)):
            high = np.nextafter(high, kind(0))
    return low, high


@dispatchable
def add(x, y, name=None):
    """x + y."""
    if isinstance(x, Tensor) and isinstance(y, Tensor) and x.dtype is not dtypes.string:
        return raw.AddV2(x=x, y=y, name=name or ("Add" if _weft.in_graph() else None))
    with scope(name, "Add") as name:
        if not isinstance(x, Tensor):
            x = convert_to_tensor(x, dtype_hint=y.dtype.base_dtype if isinstance(y, Tensor) else None, name="x")
        y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
        return (raw.Add if x.dtype is dtypes.string else raw.AddV2)(x=x, y=y, name=name)


@dispatchable
def add_n(inputs, name=None):
    """The sum of tensors of one shape."""
    if not isinstance(inputs, (list, tuple)) and hasattr(inputs, "__iter__") and not isinstance(inputs, Tensor):
        inputs = list(inputs)
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
        )
    parts = [_dense(p) for p in inputs]
    if _weft.in_graph() and any(p.dtype is not parts[0].dtype for p in parts):
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
        )
    if len(parts) == 1:
        return raw.Identity(input=parts[0], name=name) if name else parts[0]
    return raw.AddN(inputs=parts, name=name)


def _dense(value):
    return convert_to_tensor(value)


@dispatchable
def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of tensors of one shape, one after the other."""
    message = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(message)
    parts = [convert_to_tensor(p) for p in inputs]
    if any(p.dtype is not parts[0].dtype for p in parts):
        raise ValueError(message)
    for part in parts[1:]:
        parts[0].shape.merge_with(part.shape)
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) is not parts[0].dtype:
        raise TypeError(
            f"The `tensor_dtype` argument is {tensor_dtype}, but `input` is of type {parts[0].dtype}. These must be equal. Try casting the input to the "
            "desired type."
        )
    return raw.AddN(inputs=parts, name=name) if len(parts) > 1 else raw.Identity(input=parts[0], name=name)


@dispatchable
def abs(x, name=None):
    """The absolute value; of complex numbers, their length."""
    with scope(name, "Abs") as name:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return raw.ComplexAbs(x=x, Tout=x.dtype.real_dtype, name=name)
        return raw.Abs(x=x, name=name)


@dispatchable
def sign(x, name=None):
    """-1, 0 or 1; of complex numbers, x / |x|."""
    x = convert_to_tensor(x)
    if x.dtype.is_complex:
        return divide_no_nan(x, cast(raw.ComplexAbs(x=x, Tout=x.dtype.real_dtype), x.dtype), name=name)  # noqa: F821
    return raw.Sign(x=x, name=name)


@dispatchable
def pow(x, y, name=None):
    """x to the power y."""
    return raw.Pow(x=x, y=y, name=name)


@dispatchable
def sigmoid(x, name=None):
    """1 / (1 + exp(-x))."""
    return raw.Sigmoid(x=x, name=name or "Sigmoid")


@dispatchable
def log_sigmoid(x, name=None):
    """log(sigmoid(x))."""
    with scope(name, "LogSigmoid") as name:
        return raw.Neg(x=raw.Softplus(features=raw.Neg(x=x)), name=name)


@dispatchable
def logical_xor(x, y, name="LogicalXor"):
    """Whether just one of the two holds."""
    return raw.LogicalAnd(x=raw.LogicalOr(x=x, y=y), y=raw.LogicalNot(x=raw.LogicalAnd(x=x, y=y)), name=name)


def _pair(x, y):
    """Both as tensors; a plain value takes the other's type where it can."""
    if isinstance(x, Tensor):
        return x, y if isinstance(y, Tensor) else convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
    if isinstance(y, Tensor):
        return convert_to_tensor(x, dtype_hint=y.dtype.base_dtype, name="x"), y
    x = convert_to_tensor(x, name="x")
    return x, convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")


_QUOTIENT = {
    dtypes.uint8: dtypes.float32,
    dtypes.int8: dtypes.float32,
    dtypes.uint16: dtypes.float32,
    dtypes.int16: dtypes.float32,
    dtypes.int32: dtypes.float64,
    dtypes.uint32: dtypes.float64,
    dtypes.int64: dtypes.float64,
    dtypes.uint64: dtypes.float64,
}


@dispatchable
def truediv(x, y, name=None):
    """x / y as Python divides: of integers, a float."""
    with scope(name, "truediv") as name:
        x, y = _pair(x, y)
        if x.dtype.base_dtype is not y.dtype.base_dtype:
            raise TypeError(f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}.")
        kind = _QUOTIENT.get(x.dtype.base_dtype)
        if kind is not None:
            x, y = cast(x, kind), cast(y, kind)
        return raw.RealDiv(x=x, y=y, name=name)


@dispatchable
def divide(x, y, name=None):
    """x / y."""
    if name is not None:
        return truediv(x, y, name=name)
    if not isinstance(x, Tensor) and not isinstance(y, Tensor):
        # TensorFlow divides values that are not tensors as Python does where they are no lists.
        x = convert_to_tensor(x, dtype_hint=getattr(y, "dtype", None) and dtypes.as_dtype(y.dtype).base_dtype)
    return x / y


@dispatchable
def reciprocal_no_nan(x, name=None):
    """1 / x, and 0 where x is 0."""
    with scope(name, "reciprocal_no_nan") as name:
        x = convert_to_tensor(x, name="x")
        return raw.DivNoNan(x=convert_to_tensor(1, x.dtype.base_dtype, name="one"), y=x, name=name)


@dispatchable
def scalar_mul(scalar, x, name=None):
    """A number times a tensor or indexed slices."""
    base = dtypes.as_dtype(x.dtype).base_dtype
    scalar = convert_to_tensor(scalar, base, name="scalar")
    if scalar.shape.rank not in (0, None):
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    if type(x).__name__ == "IndexedSlices":
        return type(x)(raw.Mul(x=scalar, y=x.values, name=name), x.indices, x.dense_shape)
    return raw.Mul(x=scalar, y=x, name=name)


@dispatchable
def round(x, name=None):
    """To the nearest whole number, halves to even ones."""
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else raw.Round(x=x, name=name)


# ---- complex numbers --------------------------------------------------------------------------------------


@dispatchable
def complex(real, imag, name=None):
    """Complex numbers of their two parts."""
    real, imag = convert_to_tensor(real, name="real"), convert_to_tensor(imag, name="imag")
    kinds = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}
    if real.dtype is not imag.dtype or real.dtype not in kinds:
        raise TypeError(
            f"The `real` and `imag` components have incorrect types: {real.dtype.name} {imag.dtype.name}. They must be consistent, and one of "
            f"{list(kinds)}"
        )
    return raw.Complex(real=real, imag=imag, Tout=kinds[real.dtype], name=name or "Complex")


@dispatchable
def real(input, name=None):
    """The real part."""
    input = convert_to_tensor(input, name="input")
    return raw.Real(input=input, Tout=input.dtype.real_dtype, name=name) if input.dtype.is_complex else input


@dispatchable
def imag(input, name=None):
    """The imaginary part; zero of real numbers."""
    input = convert_to_tensor(input, name="input")
    return (
        raw.Imag(input=input, Tout=input.dtype.real_dtype, name=name)
        if input.dtype.is_complex
        else raw.ZerosLike(x=input)
    )


@dispatchable
def angle(input, name=None):
    """The angle of complex numbers; of real ones, pi where they are negative."""
    import math

    input = convert_to_tensor(input, name="input")
    if input.dtype.is_complex:
        return raw.Angle(input=input, Tout=input.dtype.real_dtype, name=name)
    zero = raw.ZerosLike(x=input)
    return raw.SelectV2(condition=input < 0, t=math.pi * raw.OnesLike(x=input), e=zero)


@dispatchable
def conj(x, name=None):
    """The conjugate of complex numbers; others as they are."""
    if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    x = convert_to_tensor(x, name="x")
    if x.dtype.is_complex or x.dtype is dtypes.variant:
        return raw.Conj(input=x, name=name or "Conj")
    if x.dtype.is_floating or x.dtype.is_integer:
        return x
    raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}.")


# ---- special functions ------------------------------------------------------------------------------------


@dispatchable
def erfcinv(x, name=None):
    """The inverse of erfc."""
    with scope(name, "erfcinv"):
        x = convert_to_tensor(x, name="start")
        return -raw.Ndtri(x=0.5 * x) * convert_to_tensor(0.5**0.5, x.dtype)


@dispatchable
def ndtri(x, name=None):
    """The quantile of the normal distribution."""
    return raw.Ndtri(x=x, name=name)


@dispatchable
def xlog1py(x, y, name=None):
    """x * log1p(y), and 0 where x is 0."""
    return raw.Xlog1py(x=x, y=y, name=name or "xlog1py")


@dispatchable
def lbeta(x, name=None):
    """The logarithm of the beta function of the last axis."""
    with scope(name, "lbeta"):
        x = convert_to_tensor(x, name="x")
        return reduce_sum(raw.Lgamma(x=x), axis=[-1]) - raw.Lgamma(x=reduce_sum(x, axis=[-1]))


@dispatchable
def polyval(coeffs, x, name=None):
    """The polynomial with these coefficients, the highest first."""
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    with scope(name, "polyval") as name:
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return raw.ZerosLike(x=x, name=name)
        parts = [convert_to_tensor(c, x.dtype, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        out = parts[0]
        for c in parts[1:]:
            out = c + out * x
        return out


def sobol_sample(dim, num_results, skip=0, dtype=dtypes.float32, name=None):
    """Points of Sobol's sequence."""
    with scope(name, "sobol"):
        return raw.SobolSample(dim=dim, num_results=num_results, skip=skip, dtype=dtype)


def is_non_decreasing(x, name=None):
    """Whether no element is less than the one before it."""
    with scope(name, "is_non_decreasing"):
        return _steps(x, lambda d: d >= raw.Cast(x=0, DstT=d.dtype))


def is_strictly_increasing(x, name=None):
    """Whether each element is greater than the one before it."""
    with scope(name, "is_strictly_increasing"):
        return _steps(x, lambda d: raw.Cast(x=0, DstT=d.dtype) < d)


def _steps(x, test):
    flat = raw.Reshape(tensor=convert_to_tensor(x, name="x"), shape=[-1])
    if not (flat.dtype.is_floating or flat.dtype.is_integer):
        raise TypeError(f"Expected x to be numeric, instead found: {x!r}")
    return reduce_all(test(flat[1:] - flat[:-1]))


@dispatchable
def zero_fraction(value, name=None):
    """How much of a tensor is zero."""
    with scope(name, "zero_fraction") as name:
        value = convert_to_tensor(value, name="value")
        count = raw.Size(input=value, out_type=dtypes.int64)
        zeros = count - count_nonzero(value)
        return raw.Identity(
            input=raw.RealDiv(x=raw.Cast(x=zeros, DstT=dtypes.float32), y=raw.Cast(x=count, DstT=dtypes.float32)),
            name=name,
        )
