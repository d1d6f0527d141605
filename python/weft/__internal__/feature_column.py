"""tf.__internal__.feature_column"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
internal.feature_column: DenseColumn FeatureColumn FeatureTransformationCache SequenceDenseColumn StateManager deserialize_feature_column serialize_feature_column
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.feature_column", _MODULES, ())
