"""Feature columns: how the columns of a table become numbers for a model."""

import collections
import math

from weft._src.raw import raw
from weft._src.framework import dtypes, gfile
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import init_scope, name_scope_v1
from weft._src.framework.tensor_shape import TensorShape


def _sparse(features, key, source=None):
    """A categorical feature as a sparse tensor: of a dense one, what is not "" or -1."""
    from weft._src.ops.sparse_tensor import SparseTensor

    if key not in features:
        raise ValueError(f"Feature {key} is not in features dictionary.")
    value = features[key]
    if isinstance(value, SparseTensor):
        return value
    value = convert_to_tensor(value)
    if value.shape.rank == 1:
        value = raw.ExpandDims(input=value, dim=1)
    ignored = "" if value.dtype == dtypes.string else -1
    indices = raw.Where(input=raw.NotEqual(x=value, y=convert_to_tensor(ignored, dtype=value.dtype)))
    return SparseTensor(
        indices, raw.GatherNd(params=value, indices=indices), raw.Shape(input=value, out_type=dtypes.int64)
    )


def _with_values(sparse, values):
    from weft._src.ops.sparse_tensor import SparseTensor

    return SparseTensor(sparse.indices, values, sparse.dense_shape)


class FeatureColumn:
    """What a column is for layers of columns: `state` is their StateManager, which keeps variables and tables (weft/_src/internal/feature_column.py)."""

    _is_v2_column = True

    def __lt__(self, other):
        return str(self) < str(other)

    @property
    def parents(self):
        """The columns, or keys of features, that it is computed from."""
        sources = [
            getattr(self, name) for name in ("categorical_column", "source_column", "key") if name in self._fields
        ]
        return sources[:1] or list(self.keys)

    def create_state(self, state_manager):
        """Makes the variables of the columns that it is computed from; its own, in classes that have some."""
        for parent in self.parents:
            if isinstance(parent, FeatureColumn):
                parent.create_state(state_manager)

    def transform_feature(self, transformation_cache, state_manager):
        return self.ids(transformation_cache, state_manager)

    def get_config(self):
        return {name: _described(value) for name, value in zip(self._fields, self)}

    @classmethod
    def from_config(cls, config, custom_objects=None, columns_by_name=None):
        from weft._src.internal.feature_column import described_value

        return cls(
            **{name: described_value(name, value, custom_objects, columns_by_name) for name, value in config.items()}
        )


def _described(value):
    """A field of a column in its configuration."""
    if isinstance(value, dtypes.DType):
        return value.name
    if isinstance(value, FeatureColumn) or hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, tuple):
        return tuple(_described(v) for v in value)
    return value.__name__ if callable(value) else value


class DenseColumn(FeatureColumn):
    """A column that gives numbers."""

    variable_shape = property(lambda self: TensorShape([self.size]))

    def get_dense_tensor(self, transformation_cache, state_manager):
        return raw.Reshape(tensor=self.dense(transformation_cache, state_manager), shape=[-1, *self.variable_shape])


class NumericColumn(
    DenseColumn, collections.namedtuple("NumericColumn", ["key", "shape", "default_value", "dtype", "normalizer_fn"])
):
    """Numbers as they are."""

    name = property(lambda self: self.key)
    size = property(lambda self: math.prod(self.shape))

    @property
    def parse_example_spec(self):
        from weft._src.ops.parsing_config import FixedLenFeature

        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def tensor(self, features):
        if self.key not in features:
            raise ValueError(f"Feature {self.key} is not in features dictionary.")
        value = convert_to_tensor(features[self.key])
        if value.shape.rank == 1:
            value = raw.ExpandDims(input=value, dim=1)
        if self.normalizer_fn is not None:
            value = self.normalizer_fn(value)
        return value if value.dtype == dtypes.float32 else raw.Cast(x=value, DstT=dtypes.float32)

    def dense(self, features, state=None):
        return raw.Reshape(tensor=self.tensor(features), shape=[-1, self.size])

    variable_shape = property(lambda self: TensorShape(self.shape))

    def transform_feature(self, transformation_cache, state_manager):
        return self.tensor(transformation_cache)


class BucketizedColumn(DenseColumn, collections.namedtuple("BucketizedColumn", ["source_column", "boundaries"])):
    """Numbers by the range that they are in."""

    name = property(lambda self: self.source_column.name + "_bucketized")
    parse_example_spec = property(lambda self: self.source_column.parse_example_spec)
    num_buckets = property(lambda self: (len(self.boundaries) + 1) * self.source_column.size)
    size = num_buckets
    variable_shape = property(lambda self: TensorShape([*self.source_column.shape, len(self.boundaries) + 1]))

    def transform_feature(self, transformation_cache, state_manager):
        return self._places(transformation_cache, state_manager)

    def _places(self, features, state=None):
        return raw.Bucketize(
            input=self.source_column.dense(features, state), boundaries=[float(b) for b in self.boundaries]
        )

    def dense(self, features, state=None):
        from weft._src.ops.array_ops import one_hot

        hot = one_hot(self._places(features, state), len(self.boundaries) + 1, dtype=dtypes.float32)
        return raw.Reshape(tensor=hot, shape=[-1, self.size])

    def ids(self, features, state=None):
        from weft._src.ops.sparse_tensor import SparseTensor

        places = raw.Cast(x=self._places(features, state), DstT=dtypes.int64)
        width = len(self.boundaries) + 1
        places = places + convert_to_tensor([i * width for i in range(self.source_column.size)], dtype=dtypes.int64)
        indices = raw.Where(
            input=raw.OnesLike(x=raw.GreaterEqual(x=places, y=convert_to_tensor(0, dtype=dtypes.int64)))
        )
        return SparseTensor(
            indices, raw.Reshape(tensor=places, shape=[-1]), raw.Shape(input=places, out_type=dtypes.int64)
        )


class _Categorical(FeatureColumn):
    name = property(lambda self: self.key)

    @property
    def parse_example_spec(self):
        from weft._src.ops.parsing_config import VarLenFeature

        return {self.key: VarLenFeature(getattr(self, "dtype", dtypes.int64))}

    def ids(self, features, state=None):
        sparse = _sparse(features, self.key)
        return _with_values(sparse, self._numbers(sparse.values, state))


class IdentityCategoricalColumn(
    _Categorical, collections.namedtuple("IdentityCategoricalColumn", ["key", "number_buckets", "default_value"])
):
    """Numbers that are classes already."""

    num_buckets = property(lambda self: self.number_buckets)

    def _numbers(self, values, state=None):
        if not values.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {values.dtype}")
        values = raw.Cast(x=values, DstT=dtypes.int64)
        if self.default_value is None:
            from weft._src.function.control_flow import Assert
            from weft._src.framework.graph import control_dependencies
            from weft._src.ops import math_ops

            fine = math_ops.reduce_all(math_ops.logical_and(values >= 0, values < self.number_buckets))
            with control_dependencies(
                [op]
                if (op := Assert(fine, [f'Bucket index for categorical column "{self.key}" out of range', values]))
                is not None
                else None
            ):
                return raw.Identity(input=values)
        wrong = raw.LogicalOr(x=values < 0, y=values >= self.number_buckets)
        return raw.SelectV2(condition=wrong, t=convert_to_tensor(self.default_value, dtype=dtypes.int64), e=values)


class HashedCategoricalColumn(
    _Categorical, collections.namedtuple("HashedCategoricalColumn", ["key", "hash_bucket_size", "dtype"])
):
    """Classes by a hash of the value."""

    num_buckets = property(lambda self: self.hash_bucket_size)

    def _numbers(self, values, state=None):
        text = values if values.dtype == dtypes.string else raw.AsString(input=values)
        return raw.StringToHashBucketFast(input=text, num_buckets=self.hash_bucket_size)


class VocabularyListCategoricalColumn(
    _Categorical,
    collections.namedtuple(
        "VocabularyListCategoricalColumn", ["key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets"]
    ),
):
    """Classes by a list of known values."""

    num_buckets = property(lambda self: len(self.vocabulary_list) + self.num_oov_buckets)

    def _initializer(self):
        from weft._src.ops.lookup_ops import KeyValueTensorInitializer

        keys = self.dtype if self.dtype == dtypes.string else dtypes.int64
        return KeyValueTensorInitializer(
            list(self.vocabulary_list), list(range(len(self.vocabulary_list))), keys, dtypes.int64
        )

    def _numbers(self, values, state=None):
        from weft._src.ops.lookup_ops import StaticHashTable, StaticVocabularyTable

        if values.dtype != dtypes.string:
            values = raw.Cast(x=values, DstT=dtypes.int64)
        name = self.key + "_lookup"
        if state is not None and state.has_resource(self, name):
            return state.get_resource(self, name).lookup(values)
        with init_scope():
            if self.num_oov_buckets:
                table = StaticVocabularyTable(self._initializer(), self.num_oov_buckets)
            else:
                table = StaticHashTable(self._initializer(), self.default_value)
        if state is not None:
            state.add_resource(self, name, table)
        return table.lookup(values)


class VocabularyFileCategoricalColumn(
    _Categorical,
    collections.namedtuple(
        "VocabularyFileCategoricalColumn",
        ["key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value", "file_format"],
    ),
):
    """Classes by the lines of a file."""

    num_buckets = property(lambda self: self.vocabulary_size + self.num_oov_buckets)
    _numbers = VocabularyListCategoricalColumn._numbers

    def _initializer(self):
        from weft._src.ops.lookup_ops import TextFileIndex, TextFileInitializer

        keys = self.dtype if self.dtype == dtypes.string else dtypes.int64
        return TextFileInitializer(
            self.vocabulary_file,
            keys,
            TextFileIndex.WHOLE_LINE,
            dtypes.int64,
            TextFileIndex.LINE_NUMBER,
            self.vocabulary_size,
        )


class WeightedCategoricalColumn(
    FeatureColumn,
    collections.namedtuple("WeightedCategoricalColumn", ["categorical_column", "weight_feature_key", "dtype"]),
):
    """Classes with weights that another feature tells."""

    name = property(lambda self: f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}")
    num_buckets = property(lambda self: self.categorical_column.num_buckets)

    @property
    def parse_example_spec(self):
        from weft._src.ops.parsing_config import VarLenFeature

        return {**self.categorical_column.parse_example_spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    def ids(self, features, state=None):
        return self.categorical_column.ids(features, state)

    def weights(self, features):
        from weft._src.ops.sparse_tensor import SparseTensor

        value = features[self.weight_feature_key]
        if isinstance(value, SparseTensor):
            return raw.Cast(x=value.values, DstT=dtypes.float32)
        given = _sparse(features, getattr(self.categorical_column, "key"))
        value = convert_to_tensor(value)
        value = raw.ExpandDims(input=value, dim=1) if value.shape.rank == 1 else value
        return raw.Cast(x=raw.GatherNd(params=value, indices=given.indices), DstT=dtypes.float32)


class CrossedColumn(FeatureColumn, collections.namedtuple("CrossedColumn", ["keys", "hash_bucket_size", "hash_key"])):
    """Classes by a hash of several features together."""

    num_buckets = property(lambda self: self.hash_bucket_size)

    @property
    def name(self):
        return "_X_".join(sorted(k if isinstance(k, str) else k.name for k in self.keys))

    @property
    def parse_example_spec(self):
        from weft._src.ops.parsing_config import VarLenFeature

        spec = {}
        for k in self.keys:
            spec.update({k: VarLenFeature(dtypes.string)} if isinstance(k, str) else k.parse_example_spec)
        return spec

    def ids(self, features, state=None):
        from weft._src.ops import sparse_ops

        parts = []
        for k in self.keys:
            part = _sparse(features, k) if isinstance(k, str) else k.ids(features, state)
            if part.values.dtype.is_integer and part.values.dtype != dtypes.int64:
                part = _with_values(part, raw.Cast(x=part.values, DstT=dtypes.int64))
            parts.append(part)
        return sparse_ops.cross_hashed(parts, self.hash_bucket_size, self.hash_key)


class IndicatorColumn(DenseColumn, collections.namedtuple("IndicatorColumn", ["categorical_column"])):
    """A place for each class, with how often (or how much) it is there."""

    variable_shape = property(lambda self: TensorShape([1, self.size]))

    def get_dense_tensor(self, transformation_cache, state_manager):
        return self.dense(transformation_cache, state_manager)

    name = property(lambda self: self.categorical_column.name + "_indicator")
    size = property(lambda self: self.categorical_column.num_buckets)
    parse_example_spec = property(lambda self: self.categorical_column.parse_example_spec)

    def dense(self, features, state=None):
        from weft._src.ops.array_ops import one_hot

        ids = self.categorical_column.ids(features, state)
        if isinstance(self.categorical_column, WeightedCategoricalColumn):
            return self._weighted(ids, self.categorical_column.weights(features))
        from weft._src.ops import math_ops, sparse_ops

        dense = sparse_ops.to_dense(ids, default_value=-1)
        return math_ops.reduce_sum(one_hot(dense, self.size, dtype=dtypes.float32), axis=[-2])

    def _weighted(self, ids, weights):
        rows = raw.Reshape(tensor=raw.Slice(input=ids.indices, begin=[0, 0], size=[-1, 1]), shape=[-1])
        kept = raw.Reshape(tensor=raw.Where(input=ids.values >= 0), shape=[-1])
        places = raw.Pack(values=[raw.GatherV2(params=t, indices=kept, axis=0) for t in (rows, ids.values)], axis=1)
        shape = raw.ConcatV2(
            values=[
                raw.Slice(input=ids.dense_shape, begin=[0], size=[1]),
                convert_to_tensor([self.size], dtype=dtypes.int64),
            ],
            axis=0,
        )
        # The number of rows is not told before it runs, as in TensorFlow.
        shape = raw.PlaceholderWithDefault(input=shape, shape=[2])
        made = raw.ScatterNd(indices=places, updates=raw.GatherV2(params=weights, indices=kept, axis=0), shape=shape)
        made.set_shape([None, self.size])
        return made


class EmbeddingColumn(
    DenseColumn,
    collections.namedtuple(
        "EmbeddingColumn",
        ["categorical_column", "dimension", "combiner", "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt"]
        + ["max_norm", "trainable", "use_safe_embedding_lookup"],
    ),
):
    """A row of a table that is trained, for each class."""

    name = property(lambda self: self.categorical_column.name + "_embedding")
    size = property(lambda self: self.dimension)
    parse_example_spec = property(lambda self: self.categorical_column.parse_example_spec)

    def create_state(self, state_manager):
        super().create_state(state_manager)
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(self.categorical_column.num_buckets, self.dimension),
            dtype=dtypes.float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )

    def get_dense_tensor(self, transformation_cache, state_manager):
        return self.dense(transformation_cache, state_manager)

    def dense(self, features, state=None):
        from weft._src.compat.v1.variables import get_variable
        from weft._src.ops.embedding_ops import safe_embedding_lookup_sparse

        if state is None:
            shape = [self.categorical_column.num_buckets, self.dimension]
            table = get_variable("embedding_weights", shape, dtypes.float32, self.initializer, trainable=self.trainable)
        else:
            table = state.get_variable(self, "embedding_weights")
        ids, weights = self.categorical_column.ids(features, state), None
        if isinstance(self.categorical_column, WeightedCategoricalColumn):
            weights = _with_values(ids, self.categorical_column.weights(features))
        return safe_embedding_lookup_sparse(table, ids, weights, combiner=self.combiner, max_norm=self.max_norm)


# ---- making them -----------------------------------------------------------------------------------------


def numeric_column(key, shape=(1,), default_value=None, dtype=dtypes.float32, normalizer_fn=None):
    """Numbers."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if not (dtypes.as_dtype(dtype).is_integer or dtypes.as_dtype(dtype).is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return NumericColumn(key, shape, default_value, dtypes.as_dtype(dtype), normalizer_fn)


def bucketized_column(source_column, boundaries):
    """Numbers by ranges."""
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, (list, tuple)) or any(a >= b for a, b in zip(boundaries, boundaries[1:])):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


def categorical_column_with_identity(key, num_buckets, default_value=None):
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    return IdentityCategoricalColumn(key, num_buckets, default_value)


def categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string):
    if hash_bucket_size is None or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtypes.as_dtype(dtype))


def categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0):
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    if num_oov_buckets and default_value != -1:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    own = dtypes.string if isinstance(vocabulary_list[0], (str, bytes)) else dtypes.int64
    return VocabularyListCategoricalColumn(
        key, tuple(vocabulary_list), own if dtype is None else dtypes.as_dtype(dtype), default_value, num_oov_buckets
    )


def categorical_column_with_vocabulary_file(
    key,
    vocabulary_file,
    vocabulary_size=None,
    dtype=dtypes.string,
    default_value=None,
    num_oov_buckets=0,
    file_format=None,
):
    if file_format not in (None, "text"):
        raise ValueError(f"Vocabularies of the format {file_format!r} are not supported: text files are")
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        with gfile.GFile(vocabulary_file) as f:
            vocabulary_size = sum(1 for _ in f)
    return VocabularyFileCategoricalColumn(
        key,
        vocabulary_file,
        vocabulary_size,
        num_oov_buckets or 0,
        dtypes.as_dtype(dtype),
        -1 if default_value is None else default_value,
        file_format,
    )


def weighted_categorical_column(categorical_column, weight_feature_key, dtype=dtypes.float32):
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtypes.as_dtype(dtype))


def crossed_column(keys, hash_bucket_size, hash_key=None):
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


def indicator_column(categorical_column):
    return IndicatorColumn(categorical_column)


def embedding_column(
    categorical_column,
    dimension,
    combiner="mean",
    initializer=None,
    ckpt_to_load_from=None,
    tensor_name_in_ckpt=None,
    max_norm=None,
    trainable=True,
    use_safe_embedding_lookup=True,
):
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if ckpt_to_load_from is not None or tensor_name_in_ckpt is not None:
        raise NotImplementedError("embedding_column(ckpt_to_load_from=...): use init_from_checkpoint")
    if initializer is None:
        from weft._src.compat.v1.initializers import TruncatedNormal

        initializer = TruncatedNormal(0.0, 1 / math.sqrt(dimension))
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer, None, None, max_norm, trainable, use_safe_embedding_lookup
    )


def make_parse_example_spec(feature_columns):
    """What tf.io.parse_example needs for these columns."""
    out = {}
    for column in feature_columns:
        for key, value in column.parse_example_spec.items():
            if key in out and out[key] != value:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {value} and {out[key]}"
                )
            out[key] = value
    return out


def input_layer(
    features, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None, cols_to_output_tensors=None
):
    """The columns beside one another, in the order of their names, as one tensor."""
    from weft._src.compat.v1.variables import variable_scope
    from weft._src.ops.array_ops import concat

    columns = list(feature_columns) if isinstance(feature_columns, (list, tuple, set)) else [feature_columns]
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    names = [c.name for c in columns]
    if len(set(names)) != len(names):
        raise ValueError(f"Duplicate feature column name found for columns: {names}.")
    parts = []
    with variable_scope(None, default_name="input_layer"):
        for column in sorted(columns, key=lambda c: c.name):
            if not hasattr(column, "dense"):
                raise ValueError(
                    f"Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an embedding_column or indicator_column. "
                    f"Given: {column}"
                )
            with variable_scope(None, default_name=column.name), name_scope_v1(None):
                parts.append(column.dense(features))
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = parts[-1]
    return parts[0] if len(parts) == 1 else concat(parts, 1)
