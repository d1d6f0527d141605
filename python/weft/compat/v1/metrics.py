"""tf.compat.v1.metrics: running values in local variables, with an op that updates them."""

from weft._src.compat.v1.metrics import (  # noqa: F401
    __getattr__,
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
