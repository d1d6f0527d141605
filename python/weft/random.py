"""tf.random."""

from weft._missing import missing
from weft.framework.random_seed import set_seed  # noqa: F401
from weft.ops.random_ops import categorical, gamma, normal, poisson, shuffle, truncated_normal, uniform  # noqa: F401
from weft.ops.stateless_random_ops import (  # noqa: F401
    Algorithm, fold_in, split, stateless_binomial, stateless_categorical, stateless_gamma, stateless_normal, stateless_parameterized_truncated_normal,
    stateless_poisson, stateless_truncated_normal, stateless_uniform)

__getattr__ = missing("tf.random")
