"""The global step, and learning rates that go by it."""

import math

from weft import _weft
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import get_default_graph


def get_global_step(graph=None):
    """The variable that counts steps, or None."""
    graph = graph or get_default_graph()
    found = graph.get_collection("global_step")
    if len(found) > 1:
        raise ValueError(f"Multiple items found in collection 'global_step': {found}")
    return found[0] if found else None


def create_global_step(graph=None):
    from weft._src.compat.v1 import variables

    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    from weft._src.compat.v1.initializers import Zeros

    if not _weft.in_graph():
        from weft._src.trackable.variable import Variable

        made = Variable(0, trainable=False, name="global_step", dtype=dtypes.int64)
        graph.add_to_collection("global_step", made)
        return made
    with graph.as_default():
        return variables.get_variable(
            "global_step", [], dtypes.int64, Zeros(), trainable=False, collections=["variables", "global_step"]
        )


def get_or_create_global_step(graph=None):
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess, global_step_tensor):
    """The number of steps, in a session."""
    return int(sess.run(global_step_tensor)) if _weft.in_graph() or sess is not None else int(global_step_tensor)


def assert_global_step(global_step_tensor):
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')


# ---- learning rates --------------------------------------------------------------------------------------


def _decayed(compute):
    """A tensor in graphs; eagerly, a function that is asked at every step."""
    return compute() if _weft.in_graph() else compute


def _numbers(rate, step, *others):
    rate = convert_to_tensor(rate)
    from weft._src.ops.math_ops import cast

    value = (
        step.read_value()
        if isinstance(step, _weft.VariableBase)
        else convert_to_tensor(step() if callable(step) else step)
    )
    return rate, cast(value, rate.dtype), *[cast(convert_to_tensor(o), rate.dtype) for o in others]


def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """rate * decay_rate ^ (step / decay_steps)"""
    from weft._src.ops import math_ops

    def compute():
        rate, step, steps, decay = _numbers(learning_rate, global_step, decay_steps, decay_rate)
        p = step / steps
        return math_ops.multiply(rate, math_ops.pow(decay, math_ops.floor(p) if staircase else p), name=name)

    return _decayed(compute)


def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    return exponential_decay(learning_rate, global_step, decay_steps, math.exp(-decay_rate), staircase, name)


def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    from weft._src.ops import math_ops

    def compute():
        rate, step, steps, decay = _numbers(learning_rate, global_step, decay_steps, decay_rate)
        p = step / steps
        return math_ops.divide(rate, 1.0 + decay * (math_ops.floor(p) if staircase else p), name=name)

    return _decayed(compute)


def polynomial_decay(
    learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None
):
    """From the first rate to the last in decay_steps."""
    from weft._src.ops import math_ops
    from weft._src.ops.array_ops import where

    def compute():
        rate, step, steps, end, exponent = _numbers(learning_rate, global_step, decay_steps, end_learning_rate, power)
        if cycle:
            times = where(
                math_ops.equal(step, 0.0), convert_to_tensor(1.0, dtype=rate.dtype), math_ops.ceil(step / steps)
            )
            steps = steps * times
        else:
            step = math_ops.minimum(step, steps)
        return math_ops.add((rate - end) * math_ops.pow(1.0 - step / steps, exponent), end, name=name)

    return _decayed(compute)


def piecewise_constant(x, boundaries, values, name=None):
    """A value for each part between the boundaries."""
    from weft._src.ops import math_ops
    from weft._src.ops.array_ops import gather

    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")

    def compute():
        step = x.read_value() if isinstance(x, _weft.VariableBase) else convert_to_tensor(x() if callable(x) else x)
        passed = math_ops.reduce_sum(
            math_ops.cast(step > math_ops.cast(convert_to_tensor(boundaries), step.dtype), dtypes.int32)
        )
        return gather(convert_to_tensor(values), passed, name=name)

    return _decayed(compute)


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    from weft._src.ops import math_ops

    def compute():
        rate, step, steps = _numbers(learning_rate, global_step, decay_steps)
        part = math_ops.minimum(step, steps) / steps
        cosine = 0.5 * (1.0 + math_ops.cos(math.pi * part))
        return math_ops.multiply(rate, (1 - alpha) * cosine + alpha, name=name)

    return _decayed(compute)


def cosine_decay_restarts(learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
    """Cosine decays that start again, each longer than the one before."""
    from weft._src.ops import math_ops
    from weft._src.ops.array_ops import where

    def compute():
        rate, step, first, t, m, least = _numbers(learning_rate, global_step, first_decay_steps, t_mul, m_mul, alpha)
        part = step / first
        longer = math_ops.floor(math_ops.log(1.0 - part * (1.0 - t)) / math_ops.log(t))
        sum_r = (1.0 - t**longer) / (1.0 - t)
        same = math_ops.floor(part)
        even = math_ops.equal(t, 1.0)
        restart = where(even, same, longer)
        part = where(even, part - same, (part - sum_r) / t**longer)
        cosine = 0.5 * m**restart * (1.0 + math_ops.cos(math.pi * part))
        return math_ops.multiply(rate, (1 - least) * cosine + least, name=name)

    return _decayed(compute)


def linear_cosine_decay(learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    """A line times a cosine."""
    from weft._src.ops import math_ops

    def compute():
        rate, step, steps, periods, a, b = _numbers(learning_rate, global_step, decay_steps, num_periods, alpha, beta)
        step = math_ops.minimum(step, steps)
        linear = (steps - step) / steps
        cosine = 0.5 * (1.0 + math_ops.cos(math.pi * (2.0 * periods * (step / steps))))
        return math_ops.multiply(rate, (a + linear) * cosine + b, name=name)

    return _decayed(compute)


def noisy_linear_cosine_decay(
    learning_rate,
    global_step,
    decay_steps,
    initial_variance=1.0,
    variance_decay=0.55,
    num_periods=0.5,
    alpha=0.0,
    beta=0.001,
    name=None,
):
    """The same with noise that becomes less."""
    from weft._src.ops import math_ops
    from weft._src.ops.random_ops import normal

    def compute():
        rate, step, steps, first, decay, periods, a, b = _numbers(
            learning_rate, global_step, decay_steps, initial_variance, variance_decay, num_periods, alpha, beta
        )
        step = math_ops.minimum(step, steps)
        deviation = math_ops.sqrt(first / math_ops.pow(1.0 + step, decay))
        linear = (steps - step) / steps + normal(step.shape, stddev=deviation)
        cosine = 0.5 * (1.0 + math_ops.cos(math.pi * (2.0 * periods * (step / steps))))
        return math_ops.multiply(rate, (a + linear) * cosine + b, name=name)

    return _decayed(compute)
