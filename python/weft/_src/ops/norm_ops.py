"""tf.nn: moments, batch normalisation, l2_normalize."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.ops import array_ops, math_ops
from weft._src.ops._direct import scope


@dispatchable
def moments(x, axes, shift=None, keepdims=False, name=None):
    """Mean and variance over axes."""
    with scope(name, "moments"):
        x = convert_to_tensor(x)
        small = x.dtype is dtypes.float16
        y = math_ops.cast(x, dtypes.float32) if small else x
        mean = math_ops.reduce_mean(y, axes, keepdims=True, name="mean")
        variance = math_ops.reduce_mean(
            math_ops.squared_difference(y, raw.StopGradient(input=mean)), axes, keepdims=True, name="variance"
        )
        if not keepdims:
            gone = (
                list(range(y.shape.rank))
                if axes is None
                else [int(a) for a in axes]
                if isinstance(axes, (list, tuple, range))
                else axes
            )
            mean, variance = array_ops.squeeze(mean, gone), array_ops.squeeze(variance, gone)
        return (math_ops.cast(mean, x.dtype), math_ops.cast(variance, x.dtype)) if small else (mean, variance)


@dispatchable
def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """Count, sum, sum of squares and shift, from which moments can be told."""
    axes = sorted(set(a % len(convert_to_tensor(x).shape) for a in axes)) if not hasattr(axes, "dtype") else axes
    with scope(name, "sufficient_statistics"):
        x = convert_to_tensor(x, name="x")
        sizes = x.shape
        if sizes.rank is not None and all(sizes[a] is not None for a in axes):
            count = 1
            for a in axes:
                count *= sizes[a]
            count = convert_to_tensor(count, x.dtype, name="count")
        else:
            part = array_ops.gather(array_ops.shape(x), math_ops.cast(axes, dtypes.int32))
            count = math_ops.cast(math_ops.reduce_prod(part), x.dtype)
        if shift is not None:
            shift = convert_to_tensor(shift, name="shift")
            mean_ss, variance_ss = x - shift, math_ops.squared_difference(x, shift)
        else:
            mean_ss, variance_ss = x, math_ops.square(x)
        return (
            count,
            math_ops.reduce_sum(mean_ss, axes, keepdims=keepdims),
            math_ops.reduce_sum(variance_ss, axes, keepdims=keepdims),
            shift,
        )


@dispatchable
def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """Mean and variance from what sufficient_statistics gave."""
    with scope(name, "normalize"):
        divisor = math_ops.reciprocal(counts, name="divisor")
        if shift is not None:
            shifted = math_ops.multiply(mean_ss, divisor)
            mean = math_ops.add(shifted, shift)
        else:
            shifted = mean = math_ops.multiply(mean_ss, divisor)
        return mean, math_ops.subtract(math_ops.multiply(variance_ss, divisor), math_ops.square(shifted))


@dispatchable
def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    """Mean and variance over axes, each element so often."""
    with scope(name, "weighted_moments"):
        x, weights = convert_to_tensor(x, name="x"), convert_to_tensor(frequency_weights, name="weights")
        small = x.dtype is dtypes.float16
        wanted = x.dtype
        if small:
            x = math_ops.cast(x, dtypes.float32)
        weights = math_ops.cast(weights, x.dtype)
        total = math_ops.reduce_sum(weights * x, axes, keepdims=True)
        # Weights may be broadcast: their sum is taken in the shape of x.
        weight = math_ops.reduce_sum(weights + array_ops.zeros_like(x), axes, keepdims=True)
        mean = total * math_ops.reciprocal(weight)
        variance = math_ops.reduce_sum(
            weights * math_ops.squared_difference(x, mean), axes, keepdims=True
        ) * math_ops.reciprocal(weight)
        if not keepdims:
            mean, variance = array_ops.squeeze(mean, axes), array_ops.squeeze(variance, axes)
        return (math_ops.cast(mean, wanted), math_ops.cast(variance, wanted)) if small else (mean, variance)


@dispatchable
def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """(x - mean) / deviation * scale + offset."""
    with scope(name, "batchnorm"):
        x = convert_to_tensor(x)
        factor = math_ops.rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor = factor * scale
        scaled = x * math_ops.cast(factor, x.dtype)
        rest = offset - mean * factor if offset is not None else -mean * factor
        return scaled + math_ops.cast(rest, x.dtype)


@dispatchable
def batch_norm_with_global_normalization(
    input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None
):
    """An old form of batch_normalization."""
    return batch_normalization(
        input, mean, variance, beta, gamma if scale_after_normalization else None, variance_epsilon, name
    )


def fused_batch_norm(
    x,
    scale,
    offset,
    mean=None,
    variance=None,
    epsilon=0.001,
    data_format="NHWC",
    is_training=True,
    name=None,
    exponential_avg_factor=1.0,
):
    """Batch normalisation by one op: (y, mean, variance)."""
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError(
            f"Both `mean` and `variance` must be a 1D tensor when `is_training` is False or `exponential_avg_factor` != 1.0. Received: "
            f"`mean`: {mean!r} and `variance`: {variance!r}"
        )
    x = convert_to_tensor(x, name="input")
    kind = dtypes.float32
    mean = convert_to_tensor([], kind) if mean is None else mean
    variance = convert_to_tensor([], kind) if variance is None else variance
    made = raw.FusedBatchNormV3(
        x=x,
        scale=scale,
        offset=offset,
        mean=mean,
        variance=variance,
        epsilon=max(epsilon, 1.001e-5),
        data_format=data_format,
        exponential_avg_factor=exponential_avg_factor,
        is_training=is_training,
        name=name,
    )
    return made.y, made.batch_mean, made.batch_variance


@dispatchable
def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """Divided by the norm along an axis."""
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'.")
        axis = dim
    with scope(name, "l2_normalize") as name:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            squares = math_ops.reduce_sum(
                math_ops.square(math_ops.real(x)) + math_ops.square(math_ops.imag(x)), axis, keepdims=True
            )
            factor = math_ops.rsqrt(math_ops.maximum(squares, epsilon))
            return raw.Complex(real=math_ops.real(x) * factor, imag=math_ops.imag(x) * factor, Tout=x.dtype, name=name)
        squares = math_ops.reduce_sum(math_ops.square(x), axis, keepdims=True)
        return raw.Mul(x=x, y=math_ops.rsqrt(math_ops.maximum(squares, epsilon)), name=name)
