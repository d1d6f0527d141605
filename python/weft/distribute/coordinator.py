"""tf.distribute.coordinator"""

from weft._src.distribute.coordinator import ClusterCoordinator
from weft._src.distribute.remote_value import (
    PerWorkerValues as PerWorkerValue,
    RemoteValue,
    experimental_get_current_worker_index,
)
from weft._src.namespace import missing

__all__ = ["ClusterCoordinator", "PerWorkerValue", "RemoteValue", "experimental_get_current_worker_index"]
__getattr__ = missing("tf.distribute.coordinator")
