"""tf.__internal__.feature_column: what layers of feature columns are made of."""

from weft._src.framework import errors
from weft._src.ops.feature_columns import DenseColumn, _Column as FeatureColumn  # noqa: F401


def _unimplemented(name):
    return errors.UnimplementedError(
        None,
        None,
        f"tf.__internal__.feature_column.{name} is not supported: weft's feature columns keep no state of a layer",
    )


class SequenceDenseColumn(FeatureColumn):
    def __init__(self):
        raise _unimplemented("SequenceDenseColumn")


class FeatureTransformationCache:
    def __init__(self, features):
        raise _unimplemented("FeatureTransformationCache")


class StateManager:
    def __init__(self, layer, trainable):
        raise _unimplemented("StateManager")


def serialize_feature_column(fc):
    raise _unimplemented("serialize_feature_column")


def deserialize_feature_column(config, custom_objects=None, columns_by_name=None):
    raise _unimplemented("deserialize_feature_column")
