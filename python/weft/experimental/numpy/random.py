"""tf.experimental.numpy.random."""

from weft._src.numpy.random import (  # noqa: F401
    __getattr__,
    poisson,
    rand,
    randint,
    randn,
    random,
    seed,
    standard_normal,
    uniform,
)
