"""tf.compat.v1.initializers: first values of variables."""

from weft._src.compat.v1.initializers import (  # noqa: F401
    __getattr__,
    constant,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    identity,
    lecun_normal,
    lecun_uniform,
    ones,
    orthogonal,
    random_normal,
    random_uniform,
    truncated_normal,
    variance_scaling,
    zeros,
)
