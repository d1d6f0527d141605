"""tf.compat.v1.feature_column"""

from weft._src.compat.v1.version_2 import namespace as _namespace
from weft._src.ops.feature_columns import (  # noqa: F401
    bucketized_column,
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_list,
    crossed_column,
    embedding_column,
    indicator_column,
    input_layer,
    make_parse_example_spec,
    numeric_column,
    weighted_categorical_column,
)

__getattr__, __dir__ = _namespace(globals(), "feature_column")
