"""tf.random.Generator: a stream of random numbers with its state in a variable."""

import sys

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import init_scope
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import as_shape
from weft._src.ops import array_ops, math_ops
from weft._src.ops._direct import scope
from weft._src.ops.random_ops import _scaled
from weft._src.ops.stateless_random_ops import Algorithm, algorithm_number
from weft._src.trackable.autotrackable import AutoTrackable
from weft._src.trackable.variable import Variable

# How many numbers of the state come before the key; which algorithm "auto_select" is, the device says: Philox on all that are here.
_COUNTERS = {Algorithm.PHILOX.value: 2, Algorithm.THREEFRY.value: 1, Algorithm.AUTO_SELECT.value: 2}


def _counter_size(alg):
    if alg not in _COUNTERS:
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are {Algorithm.PHILOX.value} for the Philox algorithm and "
            f"{Algorithm.THREEFRY.value} for the ThreeFry algorithm."
        )
    return _COUNTERS[alg]


def _signed(number):
    """Bits of 64 as the number that int64 reads in them."""
    number &= 2**64 - 1
    return number - 2**64 if number >= 2**63 else number


def create_rng_state(seed, alg):
    """The state that a generator of this seed begins with."""
    size = _counter_size(algorithm_number(alg)) + 1
    if isinstance(seed, int):
        seed = [_signed(seed >> (64 * i)) for i in range(size)]
    elif isinstance(seed, (list, tuple)):
        seed = [_signed(s) if isinstance(s, int) else s for s in seed]
    seed = array_ops.reshape(math_ops.cast(convert_to_tensor(seed), dtypes.int64), [-1])[:size]
    known = seed.shape[0]
    if known is None:
        raise NotImplementedError("a seed of unknown length")
    # Short seeds go to the end, where the key is.
    return seed if known == size else array_ops.concat([array_ops.zeros([size - known], dtypes.int64), seed], 0)


def _state_tensor(state):
    if isinstance(state, (list, tuple)):
        state = [_signed(s) if isinstance(s, int) else s for s in state]
    return math_ops.cast(convert_to_tensor(state), dtypes.int64)


def _check(shape, wanted):
    shape = as_shape(shape)
    if not shape.is_compatible_with(wanted):
        raise ValueError(f"Shapes {shape} and {wanted} are incompatible")


def _strategy():
    """The strategy of tf.distribute that this is in the scope of; None without one."""
    context = sys.modules.get("weft._src.distribute.context")
    return context.get_strategy() if context is not None and context.has_strategy() else None


class Generator(AutoTrackable):
    """A random number generator; every draw moves its state on."""

    @classmethod
    def from_state(cls, state, alg):
        """A generator that goes on from a state."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator of a seed."""
        alg = algorithm_number(Algorithm.PHILOX if alg is None else alg)
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator whose numbers nobody can tell before."""
        from weft._src.framework import config

        if config.is_op_determinism_enabled():
            raise RuntimeError('"from_non_deterministic_state" cannot be called when determinism is enabled.')
        alg = algorithm_number(Algorithm.PHILOX if alg is None else alg)
        return cls(state=raw.NonDeterministicInts(shape=[_counter_size(alg) + 1], dtype=dtypes.int64), alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator of a key and a counter."""
        alg = algorithm_number(alg)
        return cls(state=cls._joined(key, counter, alg), alg=alg)

    @staticmethod
    def _joined(key, counter, alg):
        counter = _state_tensor(counter)
        key = _state_tensor(key)
        _check(key.shape, [])
        _check(counter.shape, [_counter_size(alg)])
        return array_ops.concat([counter, array_ops.reshape(key, [1])], 0)

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            assert alg is None and state is None
            alg, state = copy_from.algorithm, copy_from.state
            state = state.read_value() if isinstance(state, Variable) else state
        else:
            assert alg is not None and state is not None
            alg = algorithm_number(alg)
            state = _state_tensor(state)
            _check(state.shape, [_counter_size(alg) + 1])
        self._alg = alg
        self._strategy = _strategy()
        self._state_var = Variable(state, dtype=dtypes.int64, name="StateVar", trainable=False)

    state = property(lambda self: self._state_var)
    algorithm = property(lambda self: self._alg)

    @property
    def key(self):
        """The part of the state that stays."""
        return self._state_var.read_value()[-1]

    def reset(self, state):
        """Goes on from another state."""
        state = _state_tensor(state)
        _check(state.shape, [_counter_size(self._alg) + 1])
        self._state_var.assign(state)

    def reset_from_seed(self, seed):
        """Begins with a seed."""
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key, counter):
        """Goes on from a key and a counter."""
        self._state_var.assign(self._joined(key, counter, self._alg))

    def skip(self, delta):
        """Leaves out so many numbers; gives the state before."""

        def move(state_var):
            return raw.RngReadAndSkip(
                resource=state_var.handle,
                alg=math_ops.cast(self._alg, dtypes.int32),
                delta=math_ops.cast(delta, dtypes.uint64),
            )

        if self._strategy is None:
            return move(self._state_var)
        from weft._src.distribute.variable import update_here

        return update_here(self._strategy, self._state_var, move)

    @staticmethod
    def _shape(shape):
        empty = isinstance(shape, (list, tuple)) and not shape
        return convert_to_tensor(shape, dtypes.int64 if empty else None, name="shape")

    def _normal(self, op, shape, mean, stddev, dtype, name):
        shape = self._shape(shape)
        mean = convert_to_tensor(mean, dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype, name="stddev")
        return _scaled(self._draw(op, shape, dtype=dtype), mean, stddev, name)

    def _draw(self, op, shape, **more):
        shape = self._shape(shape)
        state = self.skip(math_ops.reduce_prod(shape))
        size = _counter_size(self._alg)
        bits = raw.Bitcast(input=state, type=dtypes.uint64)
        return op(shape=shape, key=self._own(bits[size : size + 1]), counter=bits[:size], alg=self._alg, **more)

    def _own(self, key):
        """Under a strategy, every replica draws with a key of its own."""
        if self._strategy is None:
            return key
        from weft._src.distribute import context

        with context.scope_of(self._strategy):
            replica = context.get_replica_context()
        if replica is None:
            return key
        counter = math_ops.cast(array_ops.stack([replica.replica_id_in_sync_group, 0]), dtypes.uint64)
        return raw.StatelessRandomUniformFullIntV2(
            shape=[1], key=key, counter=counter, dtype=dtypes.uint64, alg=self._alg
        )

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Numbers of a normal distribution."""
        with scope(name, "stateful_normal") as name:
            return self._normal(raw.StatelessRandomNormalV2, shape, mean, stddev, dtype, name)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Numbers of a normal distribution, none further than two deviations from the mean."""
        with scope(name, "truncated_normal") as name:
            return self._normal(raw.StatelessTruncatedNormalV2, shape, mean, stddev, dtype, name)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Numbers between two bounds, the upper one excluded; all integers without bounds."""
        dtype = dtypes.as_dtype(dtype)
        if dtype.is_integer:
            if (minval is None) != (maxval is None):
                raise ValueError(
                    f"For integer dtype {dtype}, minval and maxval must be both `None` or both non-`None`; got minval={minval} and maxval={maxval}"
                )
        elif maxval is None:
            maxval = 1
        with scope(name, "stateful_uniform") as name:
            if dtype.is_integer and minval is None:
                return self._draw(raw.StatelessRandomUniformFullIntV2, shape, dtype=dtype, name=name)
            low, high = convert_to_tensor(minval, dtype, name="min"), convert_to_tensor(maxval, dtype, name="max")
            if dtype.is_integer:
                return self._draw(raw.StatelessRandomUniformIntV2, shape, minval=low, maxval=high, name=name)
            return raw.AddV2(
                x=self._draw(raw.StatelessRandomUniformV2, shape, dtype=dtype) * (high - low), y=low, name=name
            )

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Integers of all bits."""
        with scope(name, "stateful_uniform_full_int") as name:
            return self._draw(raw.StatelessRandomUniformFullIntV2, shape, dtype=dtypes.as_dtype(dtype), name=name)

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        """Numbers of binomial distributions."""
        with scope(name, "binomial") as name:
            counts = convert_to_tensor(counts, name="counts")
            probs = convert_to_tensor(probs, name="probs")
            if not isinstance(shape, Tensor):
                shape = convert_to_tensor(shape, dtypes.int32 if not len(shape) else None, name="shape")
            return raw.StatefulRandomBinomial(
                resource=self._state_var.handle,
                algorithm=math_ops.cast(self._alg, dtypes.int64),
                shape=shape,
                counts=counts,
                probs=probs,
                dtype=dtype,
                name=name,
            )

    def make_seeds(self, count=1):
        """Seeds for stateless ops, one in each column."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return array_ops.stack([keys, array_ops.zeros_like(keys)])

    def split(self, count=1):
        """New generators with streams of their own."""
        keys = self.uniform_full_int([count], dtypes.int64)
        zeros = [0] * _counter_size(self._alg)
        return [
            Generator(state=array_ops.stack([*[convert_to_tensor(z, dtypes.int64) for z in zeros], key]), alg=self._alg)
            for key in array_ops.unstack(keys, num=count)
        ]


_global = None


def get_global_generator():
    """The generator of the whole program."""
    global _global
    if _global is None:
        from weft._src.framework import config

        if config.is_op_determinism_enabled():
            raise RuntimeError(
                '"get_global_generator" cannot be called if determinism is enabled, unless "set_global_generator" has already been called. Please call '
                '"set_global_generator" first.'
            )
        with init_scope():
            _global = Generator.from_non_deterministic_state()
    return _global


def set_global_generator(generator):
    """Another generator for the whole program."""
    global _global
    _global = generator
