"""tf.data.experimental.service: datasets that are walked by workers. Dispatcher and workers are objects of this process;
each worker walks its part on a thread of its own. Servers of other processes cannot be reached."""

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
