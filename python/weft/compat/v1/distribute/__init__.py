"""tf.compat.v1.distribute: version 1's faces of the strategies."""

from weft._src.namespace import lazily as _lazily

_MODULES = """
distribute.context: experimental_set_strategy get_replica_context get_strategy has_strategy in_cross_replica_context
distribute.cross_device_ops: CrossDeviceOps HierarchicalCopyAllReduce NcclAllReduce ReductionToOneDevice
distribute.extended: StrategyExtended=StrategyExtendedV1
distribute.mirrored: MirroredStrategy=MirroredStrategyV1
distribute.one_device: OneDeviceStrategy=OneDeviceStrategyV1
distribute.options: InputContext InputReplicationMode ReduceOp RunOptions get_loss_reduction
distribute.replica_context: ReplicaContext=ReplicaContextV1
distribute.server: Server
distribute.strategy: Strategy=StrategyV1
"""

__getattr__, __dir__ = _lazily(globals(), "tf.compat.v1.distribute", _MODULES, ["cluster_resolver", "experimental"])
__all__ = __dir__()
