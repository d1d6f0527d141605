"""tf.train.experimental: state of Python's in a checkpoint."""

from weft._src.trackable.experimental_train import (  # noqa: F401
    __getattr__,
    MaxShardSizePolicy,
    PythonState,
    ShardByTaskPolicy,
    ShardableTensor,
    ShardingCallback,
)
