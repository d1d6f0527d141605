"""tf.lookup: tables."""

from weft._src.namespace import missing as _missing
from weft.lookup import experimental  # noqa: F401
from weft._src.ops.lookup_ops import (
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)  # noqa: F401

__getattr__ = _missing("tf.lookup")
