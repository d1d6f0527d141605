"""tf.distribute.experimental.coordinator"""

from weft._src.distribute.parameter_server import ClusterCoordinator, PerWorkerValues, RemoteValue
from weft._src.namespace import missing

__all__ = ["ClusterCoordinator", "PerWorkerValues", "RemoteValue"]
__getattr__ = missing("tf.distribute.experimental.coordinator")
