"""Tables of vocabularies, made by functions that only version 1 had. tf2onnx."""

import collections

from weft._src.framework import dtypes, errors
from weft._src.framework.convert import convert_to_tensor
from weft._src.ops.lookup_ops import (
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)

HasherSpec = collections.namedtuple("HasherSpec", ["hasher", "key"])
FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash with a key of two numbers."""

    __slots__ = ()

    def __new__(cls, key):
        if len(key) != 2:
            raise ValueError(f"`key` must have size 2, received {len(key)}")
        return super().__new__(cls, "stronghash", key)


class TextFileIdTableInitializer(TextFileInitializer):
    """Lines of a file to their numbers."""

    def __init__(
        self,
        filename,
        key_column_index=TextFileIndex.WHOLE_LINE,
        value_column_index=TextFileIndex.LINE_NUMBER,
        vocab_size=None,
        delimiter="\t",
        name="text_file_id_table_init",
        key_dtype=dtypes.string,
    ):
        super().__init__(
            filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter, name
        )


class TextFileStringTableInitializer(TextFileInitializer):
    """Numbers of a file's lines to the lines."""

    def __init__(
        self,
        filename,
        key_column_index=TextFileIndex.LINE_NUMBER,
        value_column_index=TextFileIndex.WHOLE_LINE,
        vocab_size=None,
        delimiter="\t",
        name="text_file_string_table_init",
    ):
        super().__init__(
            filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size, delimiter, name
        )


def _index_table(initializer, num_oov_buckets, default_value, hasher_spec, key_dtype, name):
    if not num_oov_buckets:
        return StaticHashTable(initializer, default_value, name=name)
    if hasher_spec.hasher != "fasthash":
        raise errors.UnimplementedError(None, None, f"a vocabulary with buckets by {hasher_spec.hasher}")
    return StaticVocabularyTable(initializer, num_oov_buckets, lookup_key_dtype=key_dtype, name=name)


def _check_buckets(num_oov_buckets, say):
    if num_oov_buckets < 0:
        raise ValueError(f"{say} must be greater or equal than 0, got {num_oov_buckets}.")


def _check_size(vocab_size, vocabulary_file):
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(
            f"`vocab_size` must be greater than 0, got {vocab_size} for vocabulary_file: {vocabulary_file}."
        )


def index_table_from_file(
    vocabulary_file=None,
    num_oov_buckets=0,
    vocab_size=None,
    default_value=-1,
    hasher_spec=FastHashSpec,
    key_dtype=dtypes.string,
    name=None,
    key_column_index=TextFileIndex.WHOLE_LINE,
    value_column_index=TextFileIndex.LINE_NUMBER,
    delimiter="\t",
):
    """The number of a line by what stands there."""
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("`vocabulary_file` must be specified and must not be empty.")
    _check_buckets(num_oov_buckets, "num_oov_buckets")
    _check_size(vocab_size, vocabulary_file)
    if not key_dtype.is_integer and key_dtype.base_dtype != dtypes.string:
        raise TypeError("Dtype for `keys` should be either integer or string.")
    initializer = TextFileIdTableInitializer(
        vocabulary_file,
        key_column_index,
        value_column_index,
        vocab_size,
        delimiter,
        key_dtype=dtypes.int64 if key_dtype.is_integer else key_dtype,
    )
    return _index_table(initializer, num_oov_buckets, default_value, hasher_spec, key_dtype, name)


def index_table_from_tensor(
    vocabulary_list, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec, dtype=dtypes.string, name=None
):
    """The position of a key in a vector."""
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` must be specified.")
    _check_buckets(num_oov_buckets, "`num_oov_buckets`")
    if not dtype.is_integer and dtype.base_dtype != dtypes.string:
        raise TypeError("`dtype` must either be integer or string.")
    keys = convert_to_tensor(vocabulary_list)
    if keys.dtype.is_integer != dtype.is_integer:
        raise ValueError(
            f"Invalid `dtype`: Expected {'integer' if dtype.is_integer else 'non-integer'}, got {keys.dtype}."
        )
    if not dtype.is_integer and keys.dtype.base_dtype != dtype.base_dtype:
        raise ValueError(f"Invalid `dtype`: Expected {dtype}, got {keys.dtype}.")
    from weft._src.raw import raw

    numbers = raw.Range(
        start=convert_to_tensor(0, dtypes.int64),
        limit=raw.Size(input=keys, out_type=dtypes.int64),
        delta=convert_to_tensor(1, dtypes.int64),
    )
    keys = raw.Cast(x=keys, DstT=dtypes.int64) if keys.dtype.is_integer else keys
    initializer = KeyValueTensorInitializer(keys, numbers)
    return _index_table(initializer, num_oov_buckets, default_value, hasher_spec, dtype, name)


def index_to_string_table_from_file(
    vocabulary_file,
    vocab_size=None,
    default_value="UNK",
    name=None,
    key_column_index=TextFileIndex.LINE_NUMBER,
    value_column_index=TextFileIndex.WHOLE_LINE,
    delimiter="\t",
):
    """What stands in a line, by its number."""
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("`vocabulary_file` must be specified and must not be empty.")
    _check_size(vocab_size, vocabulary_file)
    initializer = TextFileStringTableInitializer(
        vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter
    )
    return StaticHashTable(initializer, default_value, name=name)


def index_to_string_table_from_tensor(vocabulary_list, default_value="UNK", name=None):
    """An element of a vector, by its position."""
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` argument must be specified.")
    from weft._src.raw import raw

    values = convert_to_tensor(vocabulary_list, dtypes.string)
    numbers = raw.Range(
        start=convert_to_tensor(0, dtypes.int64),
        limit=raw.Size(input=values, out_type=dtypes.int64),
        delta=convert_to_tensor(1, dtypes.int64),
    )
    return StaticHashTable(KeyValueTensorInitializer(numbers, values), default_value, name=name)
