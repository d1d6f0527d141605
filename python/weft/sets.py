"""tf.sets."""

from weft._src.namespace import missing
from weft._src.ops.set_ops import difference, intersection, size, union  # noqa: F401

__getattr__ = missing("tf.sets")
