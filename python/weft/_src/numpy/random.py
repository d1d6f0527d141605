"""tf.experimental.numpy.random."""

import numpy as np

import weft as tf
from weft._src.namespace import missing
from weft._src.numpy.types import as_type, default_float


def seed(s):
    tf.random.set_seed(s)


def randn(*args):
    return standard_normal(args)


def standard_normal(size=None):
    size = [] if size is None else [size] if isinstance(size, int) else list(size)
    return tf.random.normal(size, dtype=default_float())


def uniform(low=0.0, high=1.0, size=None):
    low, high = tf.cast(low, default_float()), tf.cast(high, default_float())
    shape = (
        tf.broadcast_static_shape(low.shape, high.shape)
        if size is None
        else [size]
        if isinstance(size, int)
        else list(size)
    )
    return tf.random.uniform(shape, low, high, default_float())


def random(size=None):
    return uniform(0.0, 1.0, [] if size is None else size)


def rand(*size):
    return uniform(0.0, 1.0, list(size))


def randint(low, high=None, size=None, dtype=np.int64):
    low, high = (0, low) if high is None else (low, high)
    size = [] if size is None else [size] if isinstance(size, int) else list(size)
    wanted = as_type(dtype)
    drawn = wanted if wanted in (tf.int32, tf.int64) else tf.int32
    return tf.cast(tf.random.uniform(size, low, high, drawn), wanted)


def poisson(lam=1.0, size=None):
    return tf.cast(
        tf.random.poisson(
            [] if size is None else [size] if isinstance(size, int) else list(size), tf.cast(lam, tf.float64)
        ),
        tf.int64,
    )


__getattr__ = missing("tf.experimental.numpy.random")
