"""Lookup tables: resources of the engine that map keys to values."""

import functools
import uuid

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.trackable.asset import Asset
from weft._src.trackable.base import Trackable
from weft._src.trackable.resource import TrackableResource


class TextFileIndex:
    """What of a line is taken when it is not a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TableInitializerBase(Trackable):
    """Fills a table."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self):
        return self._key_dtype

    @property
    def value_dtype(self):
        return self._value_dtype

    @property
    def _shared_name(self):
        return f"table_{uuid.uuid4()}"

    def initialize(self, table):
        raise NotImplementedError


class KeyValueTensorInitializer(TableInitializerBase):
    """Keys and values as tensors."""

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        from weft._src.framework.graph import init_scope

        with init_scope():
            self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
            self._values = convert_to_tensor(values, dtype=value_dtype, name="values")
        self._name = name or "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table):
        _check_types(table, self._keys.dtype, self._values.dtype)
        return raw.LookupTableImportV2(table_handle=table.resource_handle, keys=self._keys, values=self._values)


class TextFileInitializer(TableInitializerBase):
    """Keys and values from the lines of a file."""

    def __init__(
        self,
        filename,
        key_dtype,
        key_index,
        value_dtype,
        value_index,
        vocab_size=None,
        delimiter="\t",
        name=None,
        value_index_offset=0,
    ):
        import os

        filename = os.fspath(filename) if isinstance(filename, os.PathLike) else filename
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        for what, index, dtype in (("key", key_index, key_dtype), ("value", value_index, value_dtype)):
            if index < -2:
                raise ValueError(f"`{what}_index` should be >= -2, received: {index}.")
            middle = "if `key_index` is -1" if what == "key" else "for `value_index` -1"
            if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(f"`{what}_dtype` must be int64 {middle}, received: {dtype}")
            if index == TextFileIndex.WHOLE_LINE and not (dtype.is_integer or dtype == dtypes.string):
                raise ValueError(
                    f"`{what}_dtype` should be either integer or string for `{what}_index` -2, received: {dtype}"
                )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._key_index, self._value_index, self._vocab_size = key_index, value_index, vocab_size
        self._delimiter, self._name, self._offset = delimiter, name or "text_file_init", value_index_offset
        self._filename = self._track_trackable(Asset(filename), "_filename")
        super().__init__(key_dtype, value_dtype)

    @property
    def _shared_name(self):
        path = convert_to_tensor(self._filename.asset_path)
        text = path.numpy().decode() if hasattr(path, "numpy") and not _weft.in_graph() else str(uuid.uuid4())
        size = f"_{self._vocab_size}" if self._vocab_size else ""
        offset = f"_{self._offset}" if self._offset else ""
        return f"hash_table_{text}{size}_{self._key_index}_{self._value_index}{offset}"

    def initialize(self, table):
        _check_types(table, self.key_dtype, self.value_dtype)
        return raw.InitializeTableFromTextFileV2(
            table_handle=table.resource_handle,
            filename=self._filename.asset_path,
            key_index=self._key_index,
            value_index=self._value_index,
            vocab_size=-1 if self._vocab_size is None else self._vocab_size,
            delimiter=self._delimiter,
            offset=self._offset,
        )


def _check_types(table, key_dtype, value_dtype):
    if key_dtype.base_dtype != table.key_dtype:
        raise TypeError(f"Invalid key dtype for table, expected {table.key_dtype} but got {key_dtype}.")
    if value_dtype.base_dtype != table.value_dtype:
        raise TypeError(f"Invalid value dtype for table, expected {table.value_dtype} but got {value_dtype}.")


def _values_of(keys):
    """(the tensor of the keys, what makes the result of the tensor of values)."""
    from weft._src.framework.composite import CompositeTensor

    if isinstance(keys, CompositeTensor):
        if hasattr(keys, "with_flat_values"):
            return keys.flat_values, keys.with_flat_values
        if hasattr(keys, "dense_shape"):
            return keys.values, lambda values: type(keys)(keys.indices, values, keys.dense_shape)
    return keys, lambda values: values


class LookupInterface(TrackableResource):
    """A map from keys to values."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        super().__init__()

    @property
    def key_dtype(self):
        return self._key_dtype

    @property
    def value_dtype(self):
        return self._value_dtype

    @property
    def name(self):
        return getattr(self, "_table_name", None)

    def size(self, name=None):
        """How many keys it has."""
        return raw.LookupTableSizeV2(table_handle=self.resource_handle, name=name)

    def __getitem__(self, keys):
        return self.lookup(keys)

    def export(self, name=None):
        """(keys, values), in no order."""
        return tuple(
            raw.LookupTableExportV2(
                table_handle=self.resource_handle, Tkeys=self.key_dtype, Tvalues=self.value_dtype, name=name
            )
        )


class _MadeByStrategy(type(LookupInterface)):
    """A strategy may have tables of its own in its scope."""

    def __call__(cls, *args, **kwargs):
        make = functools.partial(super().__call__, *args, **kwargs)
        if cls is not StaticHashTable or _weft.in_graph():
            return make()
        from weft._src.distribute.context import get_strategy

        create_table = getattr(get_strategy().extended, "_create_table", None)
        return make() if create_table is None else create_table(make)


class StaticHashTable(LookupInterface, metaclass=_MadeByStrategy):
    """A table that is filled once."""

    _registered_name = "tf.StaticHashTable"

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        from weft._src.framework.graph import init_scope

        self._initializer = self._track_trackable(initializer, "_initializer")
        self._shared_name = "" if experimental_is_anonymous else initializer._shared_name
        self._name = name or "hash_table"
        self._table_name = None
        with init_scope():
            self._default_value = convert_to_tensor(default_value, dtype=self.value_dtype)
            self._default_value.shape.merge_with(TensorShape([]))
            self._init_op = self._initialize()
        _collect_initializer(self._init_op)

    def _create_resource(self):
        shared = self._shared_name or f"{uuid.uuid4()}"
        return raw.HashTableV2(
            shared_name=shared, key_dtype=self.key_dtype, value_dtype=self.value_dtype, name=self._name
        )

    def _initialize(self):
        return self._initializer.initialize(self)

    @property
    def initializer(self):
        return self._init_op

    @property
    def default_value(self):
        return self._default_value

    def lookup(self, keys, name=None):
        """The values of the keys; the default for those that it does not have."""
        if keys.dtype.base_dtype != self.key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self.key_dtype}, received: {keys.dtype}")
        tensor, pack = _values_of(keys)
        values = raw.LookupTableFindV2(
            table_handle=self.resource_handle, keys=tensor, default_value=self._default_value, name=name
        )
        values.set_shape(tensor.shape)
        return pack(values)


def _collect_initializer(op):
    """In graphs of version 1, tables_initializer runs it."""
    if op is not None and _weft.in_graph():
        graph = _weft.current_graph()
        if not graph.building_function:
            graph.add_to_collection("table_initializer", op)


class StaticVocabularyTable(LookupInterface):
    """Known words by their numbers, unknown ones by a hash into buckets behind them."""

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None, experimental_is_anonymous=False):
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        if initializer is not None:
            lookup_key_dtype = initializer.key_dtype if lookup_key_dtype is None else dtypes.as_dtype(lookup_key_dtype)
            if dtypes.int64 != initializer.value_dtype:
                raise TypeError(f"Invalid `value_dtype`, expected {dtypes.int64} but got {initializer.value_dtype}.")
            super().__init__(lookup_key_dtype, dtypes.int64)
            self._table = self._track_trackable(
                StaticHashTable(initializer, -1, experimental_is_anonymous=experimental_is_anonymous), "_table"
            )
        else:
            super().__init__(lookup_key_dtype or dtypes.string, dtypes.int64)
            self._table = None
        self._num_oov_buckets, self._table_name = num_oov_buckets, name or "string_to_index"

    @property
    def resource_handle(self):
        return None if self._table is None else self._table.resource_handle

    @property
    def initializer(self):
        return None if self._table is None else self._table.initializer

    def _create_resource(self):
        return self.resource_handle

    def _resource_functions(self):
        return {}

    def size(self, name=None):
        known = 0 if self._table is None else self._table.size()
        return raw.AddV2(
            x=convert_to_tensor(known, dtype=dtypes.int64),
            y=convert_to_tensor(self._num_oov_buckets, dtype=dtypes.int64),
            name=name,
        )

    def lookup(self, keys, name=None):
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self._key_dtype}, received: {keys.dtype}")
        tensor, pack = _values_of(keys)
        if self._table is not None and self._table.key_dtype == dtypes.int64 and self._key_dtype.is_integer:
            tensor = raw.Cast(x=tensor, DstT=dtypes.int64)
        text = raw.AsString(input=tensor) if tensor.dtype.is_integer else tensor
        buckets = raw.StringToHashBucketFast(input=text, num_buckets=self._num_oov_buckets)
        if self._table is None:
            return pack(buckets)
        ids = self._table.lookup(tensor)
        buckets = raw.AddV2(x=buckets, y=self._table.size())
        known = raw.NotEqual(x=ids, y=self._table._default_value)
        return pack(raw.SelectV2(condition=known, t=ids, e=buckets, name=name))


class _MutableTable(LookupInterface):
    """What tables that change have in common."""

    def __init__(self, key_dtype, value_dtype, default_value, name, checkpoint):
        super().__init__(key_dtype, value_dtype)
        from weft._src.framework.graph import init_scope

        self._name, self._table_name, self._checkpoint = name, name, checkpoint
        with init_scope():
            self._default_value = convert_to_tensor(default_value, dtype=self.value_dtype)
        self._value_shape = self._default_value.shape
        self._shared = f"table_{uuid.uuid4()}"
        self.resource_handle  # noqa: B018: made now

    @property
    def default_value(self):
        return self._default_value

    def lookup(self, keys, dynamic_default_values=None, name=None):
        """The values of the keys, or defaults: one for all, or one for each key."""
        tensor, pack = _values_of(keys)
        tensor = convert_to_tensor(tensor, dtype=self.key_dtype, name="keys")
        default = self._default_value if dynamic_default_values is None else dynamic_default_values
        return pack(
            raw.LookupTableFindV2(table_handle=self.resource_handle, keys=tensor, default_value=default, name=name)
        )

    def insert(self, keys, values, name=None):
        """Adds keys, or replaces their values."""
        keys = convert_to_tensor(keys, dtype=self.key_dtype, name="keys")
        values = convert_to_tensor(values, dtype=self.value_dtype, name="values")
        return raw.LookupTableInsertV2(table_handle=self.resource_handle, keys=keys, values=values, name=name)

    def remove(self, keys, name=None):
        """Removes keys; those that it does not have are ignored."""
        keys = convert_to_tensor(keys, dtype=self.key_dtype, name="keys")
        return raw.LookupTableRemoveV2(table_handle=self.resource_handle, keys=keys, name=name)

    def export(self, name=None):
        keys, values = raw.LookupTableExportV2(
            table_handle=self.resource_handle, Tkeys=self.key_dtype, Tvalues=self.value_dtype, name=name
        )
        return keys, values

    def _has_own_tensors(self):
        return self._checkpoint

    def _saveable_functions(self):
        """name -> (function that gives what to save, function that takes it back): SavedModels keep them."""
        if not self._checkpoint:
            return {}
        from weft._src.framework.type_spec import TensorSpec
        from weft._src.function.function import function

        def save_fn(checkpoint_key):
            keys, values = self.export()
            return [
                {"name": checkpoint_key + "-keys", "slice_spec": convert_to_tensor(""), "tensor": keys},
                {"name": checkpoint_key + "-values", "slice_spec": convert_to_tensor(""), "tensor": values},
            ]

        def restore_fn(*restored_tensors):
            raw.LookupTableImportV2(
                table_handle=self.resource_handle, keys=restored_tensors[0], values=restored_tensors[1]
            )
            return 1

        save = function(save_fn, autograph=False).get_concrete_function(TensorSpec([], dtypes.string))
        restore = function(restore_fn, autograph=False).get_concrete_function(
            TensorSpec(None, self.key_dtype), TensorSpec(None, self.value_dtype)
        )
        return {"table": (save, restore)}

    def _serialize_to_tensors(self):
        keys, values = self.export()
        return {"table-keys": keys, "table-values": values}

    def _restore_from_tensors(self, restored_tensors):
        return raw.LookupTableImportV2(
            table_handle=self.resource_handle,
            keys=restored_tensors["table-keys"],
            values=restored_tensors["table-values"],
        )


class MutableHashTable(_MutableTable):
    """A table that programs change."""

    _registered_name = "tf.MutableHashTable"

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        name="MutableHashTable",
        checkpoint=True,
        experimental_is_anonymous=False,
    ):
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)

    def _create_resource(self):
        if self._value_shape.rank == 0:
            return raw.MutableHashTableV2(
                shared_name=self._shared, key_dtype=self.key_dtype, value_dtype=self.value_dtype, name=self._name
            )
        return raw.MutableHashTableOfTensorsV2(
            shared_name=self._shared,
            key_dtype=self.key_dtype,
            value_dtype=self.value_dtype,
            value_shape=self._value_shape,
            name=self._name,
        )


class DenseHashTable(_MutableTable):
    """A table that programs change, in one block of memory: two keys stand for empty and deleted places."""

    _registered_name = "tf.DenseHashTable"

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        empty_key,
        deleted_key,
        initial_num_buckets=None,
        name="MutableDenseHashTable",
        checkpoint=True,
        experimental_is_anonymous=False,
    ):
        from weft._src.framework.graph import init_scope

        self._buckets = initial_num_buckets
        with init_scope():
            self._empty_key = convert_to_tensor(empty_key, dtype=key_dtype, name="empty_key")
            self._deleted_key = convert_to_tensor(deleted_key, dtype=key_dtype, name="deleted_key")
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)

    def _create_resource(self):
        return raw.MutableDenseHashTableV2(
            empty_key=self._empty_key,
            deleted_key=self._deleted_key,
            shared_name=self._shared,
            value_dtype=self.value_dtype,
            value_shape=self._value_shape,
            initial_num_buckets=self._buckets or 131072,
            name=self._name,
        )

    def lookup(self, keys, name=None):
        return super().lookup(keys, None, name)

    def insert_or_assign(self, keys, values, name=None):
        return self.insert(keys, values, name)

    def erase(self, keys, name=None):
        return self.remove(keys, name)
