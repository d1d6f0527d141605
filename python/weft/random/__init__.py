"""tf.random."""

from weft.random import experimental  # noqa: F401
from weft._src.namespace import missing
from weft._src.framework.random_seed import set_seed  # noqa: F401
from weft._src.ops.random_ops import categorical, gamma, normal, poisson, shuffle, truncated_normal, uniform  # noqa: F401
from weft._src.ops.rng import Generator, create_rng_state, get_global_generator, set_global_generator  # noqa: F401
from weft._src.ops.sampling_ops import (  # noqa: F401
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from weft._src.ops.stateless_random_ops import (  # noqa: F401
    Algorithm,
    fold_in,
    split,
    stateless_binomial,
    stateless_categorical,
    stateless_gamma,
    stateless_normal,
    stateless_parameterized_truncated_normal,
    stateless_poisson,
    stateless_truncated_normal,
    stateless_uniform,
)

__getattr__ = missing("tf.random")
