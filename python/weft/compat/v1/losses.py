"""tf.compat.v1.losses: losses with weights and reductions, collected in the graph."""

from weft._src.compat.v1.version_2 import namespace as _namespace
from weft._src.compat.v1.losses import (  # noqa: F401
    Reduction,
    absolute_difference,
    add_loss,
    compute_weighted_loss,
    cosine_distance,
    get_losses,
    get_regularization_loss,
    get_regularization_losses,
    get_total_loss,
    hinge_loss,
    huber_loss,
    log_loss,
    mean_squared_error,
    sigmoid_cross_entropy,
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)

_MODULES = """
compat.v1.losses: mean_pairwise_squared_error
"""

__getattr__, __dir__ = _namespace(globals(), "losses", _MODULES)
