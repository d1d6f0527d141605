"""tf.compat.v1.math: tf.math with version 1's arguments where they differ."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.old_ops: argmax argmin count_nonzero in_top_k reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum
"""

__getattr__, __dir__ = _namespace(globals(), "math", _MODULES)
