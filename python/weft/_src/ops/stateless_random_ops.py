"""tf.random.stateless_*: numbers that depend on the seed alone."""

import enum

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.static_value import shaped
from weft._src.ops._direct import define, scope
from weft._src.ops.random_ops import _floor, _moments, _scaled, shape_tensor


class Algorithm(enum.Enum):
    """How the bits are made."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_BY_NAME = {"philox": Algorithm.PHILOX, "threefry": Algorithm.THREEFRY, "auto_select": Algorithm.AUTO_SELECT}


def algorithm_number(alg):
    """An algorithm, its name or its number as a number."""
    if isinstance(alg, Algorithm):
        return alg.value
    if isinstance(alg, str):
        if alg not in _BY_NAME:
            raise ValueError(
                f"Argument `alg` got unsupported value {alg}. Supported values are philox for the Philox algorithm, threefry for the ThreeFry algorithm, and "
                "auto_select for auto-selection."
            )
        return _BY_NAME[alg].value
    if isinstance(alg, int) and alg not in (a.value for a in Algorithm):
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are 1 for the Philox algorithm, 2 for the ThreeFry algorithm, and 3 for "
            "auto-selection."
        )
    return alg


def key_and_counter(seed, alg):
    """(key, counter, algorithm) that a seed of two numbers stands for."""
    alg = algorithm_number(Algorithm.AUTO_SELECT if alg is None else alg)
    if alg == Algorithm.THREEFRY.value:
        key = raw.Reshape(
            tensor=raw.Bitcast(
                input=raw.Bitcast(input=raw.Cast(x=convert_to_tensor(seed), DstT=dtypes.int32), type=dtypes.uint32),
                type=dtypes.uint64,
            ),
            shape=[1],
        )
        return key, convert_to_tensor([0], dtypes.uint64), alg
    made = raw.StatelessRandomGetKeyCounter(seed=seed)
    return made.key, made.counter, alg


@dispatchable
def split(seed, num=2, alg="auto_select"):
    """So many new seeds of one."""
    seed = convert_to_tensor(seed)
    return stateless_uniform([num, 2], seed, None, None, seed.dtype, alg=alg)


@dispatchable
def fold_in(seed, data, alg="auto_select"):
    """A new seed of one and a number."""
    from weft._src.ops.array_ops import stack

    data = convert_to_tensor(data)
    seed = stateless_uniform([1], seed, None, None, data.dtype, alg=alg)
    return stack([seed[0], data])


@dispatchable
def stateless_uniform(shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None, alg="auto_select"):
    """Numbers between two bounds, the upper one excluded."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in (
        dtypes.float16,
        dtypes.bfloat16,
        dtypes.float32,
        dtypes.float64,
        dtypes.int32,
        dtypes.int64,
        dtypes.uint32,
        dtypes.uint64,
    ):
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are "
            f"{(dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)}."
        )
    if dtype.is_integer:
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer `dtype` argument {dtype}, argument `minval` and `maxval` must be both None or not None. Got `minval`={minval} and `maxval`={maxval}."
            )
        if minval is not None and dtype in (dtypes.uint32, dtypes.uint64):
            raise ValueError(
                f"Argument `dtype` got invalid value {dtype} when argument `minval` is not None. Please don't use unsigned integers in this case."
            )
    elif maxval is None:
        maxval = 1
    with scope(name, "stateless_random_uniform") as name:
        shape = shape_tensor(shape)
        if dtype.is_integer and minval is None:
            key, counter, alg = key_and_counter(seed, alg)
            return shaped(
                raw.StatelessRandomUniformFullIntV2(
                    shape=shape, key=key, counter=counter, alg=alg, dtype=dtype, name=name
                ),
                shape,
            )
        low = convert_to_tensor(minval, dtype, name="min")
        high = convert_to_tensor(maxval, dtype, name="max")
        key, counter, alg = key_and_counter(seed, alg)
        if dtype.is_integer:
            return shaped(
                raw.StatelessRandomUniformIntV2(
                    shape=shape, key=key, counter=counter, alg=alg, minval=low, maxval=high, name=name
                ),
                shape,
            )
        draw = shaped(raw.StatelessRandomUniformV2(shape=shape, key=key, counter=counter, alg=alg, dtype=dtype), shape)
        return raw.AddV2(x=raw.Mul(x=draw, y=raw.Sub(x=high, y=low, name="sub"), name="mul"), y=low, name=name)


@dispatchable
def stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"):
    """Numbers of a normal distribution."""
    with scope(name, "stateless_random_normal") as name:
        shape, mean, stddev = _moments(shape, mean, stddev, dtype)
        key, counter, alg = key_and_counter(seed, alg)
        draw = shaped(raw.StatelessRandomNormalV2(shape=shape, key=key, counter=counter, alg=alg, dtype=dtype), shape)
        return _scaled(draw, mean, stddev, name)


@dispatchable
def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"):
    """Numbers of a normal distribution, none further than two deviations from the mean."""
    with scope(name, "stateless_truncated_normal") as name:
        shape, mean, stddev = _moments(shape, mean, stddev, dtype)
        key, counter, alg = key_and_counter(seed, alg)
        draw = shaped(
            raw.StatelessTruncatedNormalV2(shape=shape, key=key, counter=counter, alg=alg, dtype=dtype), shape
        )
        return _scaled(draw, mean, stddev, name)


@dispatchable
def stateless_parameterized_truncated_normal(shape, seed, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, name=None):
    """Numbers of normal distributions between bounds."""
    return raw.StatelessParameterizedTruncatedNormal(
        shape=shape_tensor(shape), seed=seed, means=means, stddevs=stddevs, minvals=minvals, maxvals=maxvals, name=name
    )


@dispatchable
def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """Classes, drawn by the logarithms of their probabilities."""
    with scope(name, "stateless_categorical"):
        return raw.StatelessMultinomial(
            logits=convert_to_tensor(logits, name="logits"), num_samples=num_samples, seed=seed, output_dtype=dtype
        )


@dispatchable
def stateless_gamma(shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None):
    """Numbers of gamma distributions."""
    from weft._src.ops.array_ops import shape as shape_of

    with scope(name, "stateless_random_gamma"):
        alpha = convert_to_tensor(alpha, dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        both = raw.BroadcastTo(input=alpha, shape=raw.BroadcastArgs(s0=shape_of(alpha), s1=shape_of(beta)))
        return _floor(raw.StatelessRandomGammaV2(shape=shape_tensor(shape), seed=seed, alpha=both) / beta)


@dispatchable
def stateless_poisson(shape, seed, lam, dtype=dtypes.int32, name=None):
    """Numbers of Poisson distributions."""
    with scope(name, "stateless_random_poisson"):
        shape = shape_tensor(shape)
        return shaped(
            raw.StatelessRandomPoisson(
                shape=shape, seed=seed, lam=convert_to_tensor(lam, dtype_hint=dtypes.float32), dtype=dtype
            ),
            shape,
        )


@dispatchable
def stateless_binomial(shape, seed, counts, probs, output_dtype=dtypes.int32, name=None):
    """Numbers of binomial distributions."""
    with scope(name, "stateless_random_binomial"):
        probs = convert_to_tensor(probs, dtype_hint=dtypes.float32, name="probs")
        counts = convert_to_tensor(counts, dtype_hint=probs.dtype, name="counts")
        counts = counts if counts.dtype is probs.dtype else raw.Cast(x=counts, DstT=probs.dtype)
        return raw.StatelessRandomBinomial(
            shape=shape_tensor(shape), seed=seed, counts=counts, probs=probs, dtype=output_dtype
        )


@dispatchable
def stateless_shuffle(value, seed, alg="auto_select", name=None):
    """The parts along the first axis in an order that the seed tells."""
    with scope(name, "stateless_shuffle"):
        key, counter, alg = key_and_counter(seed, alg)
        return raw.StatelessShuffle(value=value, key=key, counter=counter, alg=alg)


@dispatchable
def index_shuffle(index, seed, max_index):
    """The place of one index in a random order of all up to max_index."""
    from weft._src.ops.array_ops import pad

    seed = convert_to_tensor(seed)
    # The op wants three numbers; TensorFlow always puts this one before the two.
    seed = pad(seed, [[1, 0]] + [[0, 0]] * (seed.shape.rank - 1), constant_values=498247692)
    return raw.RandomIndexShuffle(index=convert_to_tensor(index), seed=seed, max_index=max_index)


define(globals(), "random_index_shuffle RandomIndexShuffle index, seed, max_index, rounds=4")
