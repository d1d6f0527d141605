"""tf.lookup.experimental: tables that change."""

from weft._missing import missing as _missing
from weft.ops.lookup_ops import DenseHashTable, MutableHashTable  # noqa: F401

__getattr__ = _missing("tf.lookup.experimental")
