"""tf.sets."""

from weft._missing import missing
from weft.ops.set_ops import difference, intersection, size, union  # noqa: F401

__getattr__ = missing("tf.sets")
