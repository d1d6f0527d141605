"""tf.data."""

from weft._src.data.dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset, DatasetSpec  # noqa: F401
from weft._src.data.iterator import Iterator, IteratorSpec, NumpyIterator  # noqa: F401
from weft._src.data.options import Options, ThreadingOptions  # noqa: F401
from weft._src.namespace import lazily as _lazily

_MODULES = """
data.readers: TFRecordDataset TextLineDataset FixedLengthRecordDataset
"""

__getattr__, _ = _lazily(globals(), "tf.data", _MODULES, ["experimental"])
