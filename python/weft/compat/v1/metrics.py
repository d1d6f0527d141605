"""tf.compat.v1.metrics: running values in local variables, with an op that updates them."""

from weft._src.compat.v1.version_2 import namespace as _namespace
from weft._src.compat.v1.metrics import (  # noqa: F401
    accuracy,
    false_negatives,
    false_positives,
    mean,
    mean_absolute_error,
    mean_squared_error,
    precision,
    recall,
    root_mean_squared_error,
    true_positives,
)

_MODULES = """
compat.v1.metrics_thresholds: auc false_negatives_at_thresholds false_positives_at_thresholds precision_at_thresholds recall_at_thresholds
compat.v1.metrics_thresholds: sensitivity_at_specificity specificity_at_sensitivity true_negatives_at_thresholds true_positives_at_thresholds
compat.v1.metrics_ranked: average_precision_at_k precision_at_k precision_at_top_k recall_at_k recall_at_top_k sparse_average_precision_at_k
compat.v1.metrics_ranked: sparse_precision_at_k
compat.v1.metrics_more: mean_cosine_distance mean_iou mean_per_class_accuracy mean_relative_error mean_tensor percentage_below true_negatives
"""

__getattr__, __dir__ = _namespace(globals(), "metrics", _MODULES)
