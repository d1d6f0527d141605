"""tf.distribute.experimental.coordinator"""

from weft._src.distribute.coordinator import ClusterCoordinator
from weft._src.distribute.remote_value import PerWorkerValues, RemoteValue
from weft._src.namespace import missing

__all__ = ["ClusterCoordinator", "PerWorkerValues", "RemoteValue"]
__getattr__ = missing("tf.distribute.experimental.coordinator")
