"""tf.types.experimental.distributed: classes to test values of replicas against."""

from weft._src.namespace import missing
from weft._src.distribute.values import MirroredInterface as Mirrored  # noqa: F401
from weft._src.distribute.values import PerReplicaInterface as PerReplica  # noqa: F401

__getattr__ = missing("tf.types.experimental.distributed")
