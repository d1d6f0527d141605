"""tf.random: numbers from the global seed and from seeds that are given; the Generator is in ops/rng.py."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.static_value import shaped
from weft._src.framework.random_seed import get_seed
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.ops._direct import scope

_UNIFORM = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def shape_tensor(shape):
    """A shape argument as a vector of int32 or int64."""
    if isinstance(shape, Tensor):
        return shape
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    if isinstance(shape, (list, tuple)):
        if not shape:
            return convert_to_tensor([], dtypes.int32, name="shape")
        shape = [
            s.value if hasattr(s, "value") and not isinstance(s, Tensor) and not callable(s.value) else s for s in shape
        ]
    return convert_to_tensor(shape, dtype_hint=dtypes.int32, name="shape")


def _seeds(seed):
    one, two = get_seed(seed)
    return {} if one is None else {"seed": one, "seed2": two}


@dispatchable
def normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of a normal distribution."""
    with scope(name, "random_normal") as name:
        shape, mean, stddev = _moments(shape, mean, stddev, dtype)
        draw = shaped(raw.RandomStandardNormal(shape=shape, dtype=dtype, **_seeds(seed)), shape)
        return _scaled(draw, mean, stddev, name)


def _moments(shape, mean, stddev, dtype):
    return (
        shape_tensor(shape),
        convert_to_tensor(mean, dtype, name="mean"),
        convert_to_tensor(stddev, dtype, name="stddev"),
    )


def _scaled(draw, mean, stddev, name):
    return raw.AddV2(x=raw.Mul(x=draw, y=stddev, name="mul"), y=mean, name=name)


@dispatchable
def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of a normal distribution, none further than two deviations from the mean."""
    with scope(name, "truncated_normal") as name:
        shape, mean, stddev = _moments(shape, mean, stddev, dtype)
        draw = shaped(raw.TruncatedNormal(shape=shape, dtype=dtype, **_seeds(seed)), shape)
        return _scaled(draw, mean, stddev, name)


def _uniform_limits(minval, maxval, dtype):
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _UNIFORM:
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are {_UNIFORM}.")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    return dtype, minval, maxval


@dispatchable
def uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Numbers between two bounds, the upper one excluded."""
    dtype, minval, maxval = _uniform_limits(minval, maxval, dtype)
    with scope(name, "random_uniform") as name:
        shape = shape_tensor(shape)
        from_zero = type(minval) is int and minval == 0
        if from_zero and type(maxval) is int and maxval == 1 and not dtype.is_integer:
            return shaped(raw.RandomUniform(shape=shape, dtype=dtype, **_seeds(seed)), shape)
        # Before the draw: a bad bound takes no number of the sequence.
        low, high = convert_to_tensor(minval, dtype, name="min"), convert_to_tensor(maxval, dtype, name="max")
        if dtype.is_integer:
            return shaped(raw.RandomUniformInt(shape=shape, minval=low, maxval=high, **_seeds(seed), name=name), shape)
        draw = shaped(raw.RandomUniform(shape=shape, dtype=dtype, **_seeds(seed)), shape)
        if from_zero:
            return raw.Mul(x=draw, y=high)
        return raw.AddV2(x=raw.Mul(x=draw, y=raw.Sub(x=high, y=low, name="sub"), name="mul"), y=low, name=name)


@dispatchable
def shuffle(value, seed=None, name=None):
    """The parts along the first axis in a random order."""
    return raw.RandomShuffle(value=value, **_seeds(seed), name=name)


@dispatchable
def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """Classes, drawn by the logarithms of their probabilities."""
    with scope(name, "categorical"):
        return raw.Multinomial(
            logits=convert_to_tensor(logits, name="logits"),
            num_samples=num_samples,
            output_dtype=dtypes.int64 if dtype is None else dtype,
            **_seeds(seed),
        )


def _floor(values):
    """No zeros: the least number above them instead."""
    import numpy as np

    dtype = values.dtype
    tiny = (
        float(np.finfo(dtype.as_numpy_dtype).tiny) if dtype is not dtypes.bfloat16 else float(np.finfo(np.float32).tiny)
    )
    return raw.Maximum(x=tiny, y=values)


@dispatchable
def gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of gamma distributions."""
    from weft._src.ops.array_ops import shape as shape_of

    with scope(name, "random_gamma"):
        shape = convert_to_tensor(shape, dtypes.int32, name="shape") if not isinstance(shape, Tensor) else shape
        alpha = convert_to_tensor(alpha, dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        both = raw.BroadcastTo(input=alpha, shape=raw.BroadcastArgs(s0=shape_of(alpha), s1=shape_of(beta)))
        return _floor(raw.RandomGamma(shape=shape, alpha=both, **_seeds(seed)) / beta)


@dispatchable
def poisson(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of Poisson distributions."""
    with scope(name, "random_poisson"):
        return raw.RandomPoissonV2(
            shape=convert_to_tensor(shape, dtypes.int32, name="shape"),
            rate=convert_to_tensor(lam, dtype_hint=dtypes.float32, name="rate"),
            dtype=dtype,
            **_seeds(seed),
        )
