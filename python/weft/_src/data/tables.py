"""Lookup tables filled by datasets."""

import collections

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.tensor import Tensor
from weft._src.framework.type_spec import TensorSpec
from weft._src.ops.lookup_ops import StaticHashTable, StaticVocabularyTable, TableInitializerBase, _check_types

_PAIRS = (
    "Datasets used to initialize lookup tables must produce elements in the form (key, value), where the keys and "
    "values are scalar tensors. However, the given dataset produces "
)


def _check_pairs(spec):
    if len(spec) != 2:
        raise ValueError(
            f"{_PAIRS}{len(spec)} components instead of two (key, value) components. Full dataset element spec: {spec}."
        )
    for part, what in zip(spec, ("key", "value")):
        if not isinstance(part, TensorSpec):
            raise ValueError(f"{_PAIRS}non-Tensor {what}s of type {type(part)}.")
    for part, what in zip(spec, ("key", "value")):
        if part.shape.rank not in (None, 0):
            raise ValueError(f"{_PAIRS}non-scalar {what} Tensors of rank {part.shape.rank}.")


class DatasetInitializer(TableInitializerBase):
    """tf.data.experimental.DatasetInitializer: fills a table with the pairs of a dataset."""

    def __init__(self, dataset):
        self.dataset = dataset
        spec = dataset.element_spec
        _check_pairs(spec)
        super().__init__(spec[0].dtype, spec[1].dtype)

    def initialize(self, table):
        _check_types(table, self._key_dtype, self._value_dtype)
        return raw.InitializeTableFromDataset(table_handle=table.resource_handle, dataset=self.dataset._variant_tensor)


# How keys that a table does not know are spread over its buckets.
HasherSpec = collections.namedtuple("HasherSpec", ["hasher", "key"])
FastHashSpec = HasherSpec("fasthash", None)


def table_from_dataset(
    dataset=None,
    num_oov_buckets=0,
    vocab_size=None,
    default_value=None,
    hasher_spec=FastHashSpec,
    key_dtype=dtypes.string,
    name=None,
):
    """A table of the pairs of a dataset."""
    spec = dataset.element_spec
    _check_pairs(spec)
    key_dtype = dtypes.as_dtype(key_dtype)
    if default_value is None:
        default_value = -1
        if not (spec[1].dtype.is_integer or spec[1].dtype.is_floating):
            raise ValueError(
                "`default_value` must be specified when creating a table from a dataset that produces values of type "
                f"{spec[1].dtype}."
            )
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}.")
    if vocab_size is not None and not isinstance(vocab_size, Tensor) and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    if not key_dtype.is_integer and key_dtype != dtypes.string:
        raise TypeError(f"`key_dtype` must be either an integer or string type, but got {key_dtype}")
    if hasher_spec is not None and hasher_spec != FastHashSpec:
        raise NotImplementedError("table_from_dataset with a hasher_spec")
    if vocab_size is not None:
        from weft._src.data.experimental import assert_cardinality

        dataset = dataset.take(vocab_size).apply(assert_cardinality(vocab_size))
    initializer = DatasetInitializer(dataset)
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets, key_dtype, name)
    return StaticHashTable(initializer, default_value)


def index_table_from_dataset(
    dataset=None,
    num_oov_buckets=0,
    vocab_size=None,
    default_value=-1,
    hasher_spec=FastHashSpec,
    key_dtype=dtypes.string,
    name=None,
):
    """A table from the elements of a dataset to their places in it."""
    pairs = dataset.enumerate().map(lambda place, key: (key, place))
    return table_from_dataset(pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name)
