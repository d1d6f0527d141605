"""tf.data.experimental.service: datasets that are walked by the workers of a service, of this process or of others."""

from weft._src.data.service import (  # noqa: F401
    CrossTrainerCache,
    DispatchServer,
    DispatcherConfig,
    ShardingPolicy,
    WorkerConfig,
    WorkerServer,
    distribute,
    from_dataset_id,
    register_dataset,
)
from weft._src.namespace import missing

__getattr__ = missing("tf.data.experimental.service")
