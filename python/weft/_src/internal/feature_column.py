"""tf.__internal__.feature_column: what layers of feature columns are made of."""

import collections

from weft._src.framework import dtypes, errors
from weft._src.ops import feature_columns
from weft._src.ops.feature_columns import DenseColumn, FeatureColumn  # noqa: F401


class SequenceDenseColumn(FeatureColumn):
    def __init__(self):
        raise errors.UnimplementedError(
            None,
            None,
            "tf.__internal__.feature_column.SequenceDenseColumn is not supported: weft has no sequence columns",
        )


class FeatureTransformationCache:
    """Features of one call, and what columns have made of them. Columns read it like the dictionary of features."""

    def __init__(self, features):
        self._features = features.copy()
        self._feature_tensors = {}

    def get(self, key, state_manager, training=None):
        """A feature by its key, at least of rank 2, or what a column makes of the features."""
        if key in self._feature_tensors:
            return self._feature_tensors[key]
        if key in self._features:
            made = self._feature(key)
        elif isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        elif not isinstance(key, FeatureColumn):
            raise TypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {key}')
        else:
            made = key.transform_feature(self, state_manager)
            if made is None:
                raise ValueError(f"Column {key.name} is not supported.")
        self._feature_tensors[key] = made
        return made

    def _feature(self, key):
        import weft as tf

        value = tf.compat.v1.convert_to_tensor_or_sparse_tensor(self._features[key])
        rank = value.shape.rank
        if rank == 0:
            raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {value}")
        if rank is None:
            sparse = isinstance(value, tf.SparseTensor)
            dynamic = tf.size(value.dense_shape) if sparse else tf.rank(value)
            with tf.control_dependencies([tf.debugging.assert_positive(dynamic)]):
                wide = tf.sparse.expand_dims if sparse else tf.expand_dims
                return tf.cond(tf.equal(1, dynamic), lambda: wide(value, -1), lambda: value)
        if rank == 1:
            return (tf.sparse.expand_dims if isinstance(value, tf.SparseTensor) else tf.expand_dims)(value, -1)
        return value

    def __contains__(self, key):
        return key in self._features

    def __getitem__(self, key):
        return self.get(key, None)


class StateManager:
    """The variables and tables of a layer's columns."""

    def __init__(self, layer, trainable):
        self._trainable = trainable
        self._layer = layer
        if layer is not None and not hasattr(layer, "_resources"):
            layer._resources = {}
        self._cols_to_vars_map = collections.defaultdict(dict)
        self._cols_to_resources_map = collections.defaultdict(dict)

    def create_variable(
        self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True, initializer=None
    ):
        from weft._src.compat.v1.variables import get_variable
        from weft._src.trackable.base import Trackable

        if name in self._cols_to_vars_map[feature_column]:
            raise ValueError("Variable already exists.")
        # Names are not unique in the layer: it is tracked under the column's name below, not by add_weight.
        before = getattr(self._layer, "_manual_tracking", True)
        self._layer._manual_tracking = False
        try:
            variable = self._layer.add_weight(
                name=name,
                shape=shape,
                dtype=dtype,
                initializer=initializer,
                trainable=self._trainable and trainable,
                use_resource=use_resource,
                getter=get_variable,
            )
        finally:
            self._layer._manual_tracking = before
        if isinstance(variable, Trackable):
            self._layer._track_trackable(variable, feature_column.name + "/" + name)
        self._cols_to_vars_map[feature_column][name] = variable
        return variable

    def get_variable(self, feature_column, name):
        if name in self._cols_to_vars_map[feature_column]:
            return self._cols_to_vars_map[feature_column][name]
        raise ValueError("Variable does not exist.")

    def add_resource(self, feature_column, resource_name, resource):
        from weft._src.trackable.base import Trackable

        self._cols_to_resources_map[feature_column][resource_name] = resource
        if self._layer is not None and isinstance(resource, Trackable):
            self._layer._resources.setdefault(feature_column.name, {}).setdefault(resource_name, resource)

    def has_resource(self, feature_column, resource_name):
        return resource_name in self._cols_to_resources_map[feature_column]

    def get_resource(self, feature_column, resource_name):
        if not self.has_resource(feature_column, resource_name):
            raise ValueError("Resource does not exist.")
        return self._cols_to_resources_map[feature_column][resource_name]


def serialize_feature_column(fc):
    if isinstance(fc, str):
        return fc
    if not isinstance(fc, FeatureColumn):
        raise ValueError(f"Instance: {fc} is not a FeatureColumn")
    return {"class_name": type(fc).__name__, "config": fc.get_config()}


def deserialize_feature_column(config, custom_objects=None, columns_by_name=None):
    if isinstance(config, str):
        return config
    columns_by_name = {} if columns_by_name is None else columns_by_name
    name = config["class_name"]
    cls = (custom_objects or {}).get(name) or getattr(feature_columns, name, None)
    if cls is None:
        raise ValueError(f"Unknown column_object: {name}")
    made = cls.from_config(config["config"], custom_objects=custom_objects, columns_by_name=columns_by_name)
    return columns_by_name.setdefault(f"{type(made).__name__}:{made.name}", made)


def described_value(name, value, custom_objects, columns_by_name):
    """A field of a column, from its configuration."""
    if name in ("categorical_column", "source_column"):
        return deserialize_feature_column(value, custom_objects, columns_by_name)
    if name == "keys":
        return tuple(deserialize_feature_column(key, custom_objects, columns_by_name) for key in value)
    if name == "dtype":
        return dtypes.as_dtype(value)
    if name == "initializer" and isinstance(value, dict):
        from weft._src.compat.v1 import initializers

        cls = (custom_objects or {}).get(value["class_name"]) or getattr(initializers, value["class_name"])
        return cls(**value["config"])
    if name == "normalizer_fn" and isinstance(value, str):
        return custom_objects.get(value)
    return tuple(value) if isinstance(value, list) else value
