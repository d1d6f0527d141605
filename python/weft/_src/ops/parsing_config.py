"""What a program tells of the features that it parses, and the arguments of the parsing ops that follow from it."""

import collections

from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.raw import raw


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """A feature with any number of values: parsed as a sparse tensor."""


class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature of a fixed shape: parsed as a tensor."""

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(
    collections.namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])
):
    """A feature of any number of items of a fixed shape: parsed as a tensor, filled up in batches."""

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class SparseFeature(
    collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])
):
    """A sparse tensor whose indices and values are features of their own."""

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


class RaggedFeature(
    collections.namedtuple("RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"])
):
    """A feature with any number of values: parsed as a ragged tensor, divided into rows as other features say."""

    RowSplits = collections.namedtuple("RowSplits", ["key"])
    RowLengths = collections.namedtuple("RowLengths", ["key"])
    RowStarts = collections.namedtuple("RowStarts", ["key"])
    RowLimits = collections.namedtuple("RowLimits", ["key"])
    ValueRowIds = collections.namedtuple("ValueRowIds", ["key"])
    UniformRowLength = collections.namedtuple("UniformRowLength", ["length"])
    _kinds = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)

    def __new__(cls, dtype, value_key=None, partitions=(), row_splits_dtype=dtypes.int32, validate=False):
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError(f"Argument `value_key` must be a string; got {value_key}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(
                f"Argument `partitions` must be a list or tuple of partitions. Received partitions={partitions}."
            )
        for p in partitions:
            if not isinstance(p, cls._kinds):
                raise TypeError(
                    f"Argument `partitions` must be a list of partition objects {cls._kinds}; got: {partitions}"
                )
        if not isinstance(validate, bool):
            raise TypeError(f"Argument `validate` must be a bool; got {validate}.")
        return super().__new__(
            cls, dtypes.as_dtype(dtype), value_key, tuple(partitions), dtypes.as_dtype(row_splits_dtype), validate
        )


class Params:
    """Keys, types, shapes and defaults, as the parsing ops take them. Keys are in order."""

    def __init__(self, features, allowed):
        self.sparse, self.ragged, self.dense = (
            {},
            {},
            {},
        )  # key -> type; (value type, splits type); (type, shape, default)
        self.missing_is_empty = set()
        for key in sorted(features or {}):
            feature = features[key]
            if not isinstance(feature, tuple(allowed)):
                raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{key}'")
            self._add(key, feature)
        for a, b, names in (
            (self.dense, self.sparse, "Dense and sparse"),
            (self.dense, self.ragged, "Dense and ragged"),
            (self.ragged, self.sparse, "Ragged and sparse"),
        ):
            if a.keys() & b.keys():
                raise ValueError(f"{names} keys must not intersect: {sorted(a.keys() & b.keys())}")

    def __bool__(self):
        return bool(self.sparse or self.ragged or self.dense)

    def _add(self, key, f):
        if not f.dtype:
            raise ValueError(f"Missing type for feature {key}. Received feature={f}.")
        dtype = dtypes.as_dtype(f.dtype)
        if isinstance(f, VarLenFeature):
            self._add_to(self.sparse, key, dtype)
        elif isinstance(f, SparseFeature):
            if not f.index_key:
                raise ValueError(f"Missing index_key for SparseFeature {f}.")
            if not f.value_key:
                raise ValueError(f"Missing value_key for SparseFeature {f}.")
            for k in sorted([f.index_key] if isinstance(f.index_key, str) else f.index_key):
                self._add_to(self.sparse, k, dtypes.int64)
            self._add_to(self.sparse, f.value_key, dtype)
        elif isinstance(f, RaggedFeature):
            self._add_to(self.ragged, key if f.value_key is None else f.value_key, (dtype, f.row_splits_dtype))
            for p in f.partitions:
                if not isinstance(p, RaggedFeature.UniformRowLength):
                    self._add_to(self.ragged, p.key, (dtypes.int64, f.row_splits_dtype))
        else:
            self._add_dense(key, f, dtype)

    def _add_dense(self, key, f, dtype):
        if f.shape is None:
            raise ValueError(f"Missing shape for feature {key}. Received feature={f}.")
        shape = TensorShape(f.shape)
        if isinstance(f, FixedLenFeature):
            if shape.rank and shape[0] is None:
                raise ValueError(
                    f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature. Received feature={f}."
                )
            if not shape.is_fully_defined():
                raise ValueError(
                    f"All dimensions of shape for feature {key} need to be known but received {f.shape!s}."
                )
        elif f.allow_missing:
            self.missing_is_empty.add(key)
        self.dense[key] = (dtype, shape, f.default_value)

    @staticmethod
    def _add_to(table, key, value):
        if table.setdefault(key, value) != value:
            raise ValueError(f"Conflicting type {table[key]} vs {value} for feature {key}.")

    def defaults(self):
        """One tensor for each dense feature: the default, the padding of a sequence, or nothing."""
        made = []
        for dtype, shape, default in self.dense.values():
            if shape.rank and shape[0] is None:
                padding = ("" if dtype == dtypes.string else 0) if default is None else default
                made.append(
                    raw.Reshape(
                        tensor=convert_to_tensor(padding, dtype=dtype), shape=convert_to_tensor([], dtype=dtypes.int32)
                    )
                )
            elif default is None:
                made.append(convert_to_tensor([], dtype=dtype))
            else:
                made.append(
                    raw.Reshape(
                        tensor=convert_to_tensor(default, dtype=dtype),
                        shape=convert_to_tensor(shape.as_list(), dtype=dtypes.int32),
                    )
                )
        return made

    def shapes(self):
        return [shape for _, shape, _ in self.dense.values()]
