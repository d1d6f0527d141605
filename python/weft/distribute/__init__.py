"""tf.distribute: the same program on several devices. Names are loaded when they are first used."""

from weft._src.namespace import lazily as _lazily

_MODULES = """
distribute.context: experimental_set_strategy get_replica_context get_strategy has_strategy in_cross_replica_context
distribute.cross_device_ops: CrossDeviceOps HierarchicalCopyAllReduce NcclAllReduce ReductionToOneDevice
distribute.extended: StrategyExtended=StrategyExtendedV2
distribute.input_types: DistributedDataset=DistributedDatasetInterface DistributedIterator=DistributedIteratorInterface
distribute.mirrored: MirroredStrategy
distribute.multi_worker: MultiWorkerMirroredStrategy=CollectiveAllReduceStrategy
distribute.one_device: OneDeviceStrategy
distribute.options: InputContext InputOptions InputReplicationMode ReduceOp RunOptions
distribute.parameter_server: ParameterServerStrategy=ParameterServerStrategyV2
distribute.replica_context: ReplicaContext
distribute.server: Server
distribute.strategy: Strategy
distribute.tpu: TPUStrategy
distribute.values: DistributedValues=DistributedValuesInterface
"""

__getattr__, __dir__ = _lazily(
    globals(), "tf.distribute", _MODULES, ["cluster_resolver", "coordinator", "experimental"]
)
__all__ = __dir__()
