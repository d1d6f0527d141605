"""tf.random.experimental."""

from weft._src.namespace import missing
from weft._src.ops.rng import Generator, create_rng_state, get_global_generator, set_global_generator  # noqa: F401
from weft._src.ops.stateless_random_ops import Algorithm, index_shuffle, stateless_shuffle  # noqa: F401
from weft._src.ops.stateless_random_ops import fold_in as stateless_fold_in, split as stateless_split  # noqa: F401

__getattr__ = missing("tf.random.experimental")
