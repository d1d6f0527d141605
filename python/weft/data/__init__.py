"""tf.data."""

import importlib

from weft._missing import missing
from weft.data.dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset, DatasetSpec  # noqa: F401
from weft.data.iterator import Iterator, IteratorSpec, NumpyIterator  # noqa: F401
from weft.data.options import Options, ThreadingOptions  # noqa: F401

_missing = missing("tf.data")


def __getattr__(name):
    if name == "experimental":
        return importlib.import_module("weft.data.experimental")
    if name in ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset"):
        return getattr(importlib.import_module("weft.data.readers"), name)
    return _missing(name)
