"""tf.distribute.coordinator"""

from weft._src.distribute.parameter_server import (
    ClusterCoordinator,
    PerWorkerValues as PerWorkerValue,
    RemoteValue,
    experimental_get_current_worker_index,
)
from weft._src.namespace import missing

__all__ = ["ClusterCoordinator", "PerWorkerValue", "RemoteValue", "experimental_get_current_worker_index"]
__getattr__ = missing("tf.distribute.coordinator")
