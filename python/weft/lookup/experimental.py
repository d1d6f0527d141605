"""tf.lookup.experimental: tables that change."""

from weft._src.namespace import missing as _missing
from weft._src.ops.lookup_ops import DenseHashTable, MutableHashTable  # noqa: F401

__getattr__ = _missing("tf.lookup.experimental")
