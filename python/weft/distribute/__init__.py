"""tf.distribute: the same program on several devices. Names are loaded when they are first used.

context.py          which strategy and which replica the running code belongs to
strategy.py         what every strategy can do; extended.py: what each does in its own way
default.py          the strategy of programs that have none; mirrored.py, one_device.py ...: the others
replica_context.py  a replica's own view; replicas.py: replicas as threads that take turns
values.py           a value for each replica; variable.py: a variable for each replica; grouping.py: structures of them
cross_device_ops.py how values of replicas become one
input.py            datasets and iterators that give each replica its part; batches.py: how batches are divided
cluster_resolver.py where clusters are described; cluster_spec.py: tf.train.ClusterSpec
"""

import importlib

from weft._missing import missing

# module of this package: names; "public=own" where the module has another name for it, "public=" the module itself
_MODULES = """
cluster_resolver: cluster_resolver=
context: experimental_set_strategy get_replica_context get_strategy has_strategy in_cross_replica_context
cross_device_ops: CrossDeviceOps HierarchicalCopyAllReduce NcclAllReduce ReductionToOneDevice
experimental: experimental=
extended: StrategyExtended=StrategyExtendedV2
input_types: DistributedDataset=DistributedDatasetInterface DistributedIterator=DistributedIteratorInterface
mirrored: MirroredStrategy
multi_worker: MultiWorkerMirroredStrategy=CollectiveAllReduceStrategy
one_device: OneDeviceStrategy
options: InputContext InputOptions InputReplicationMode ReduceOp RunOptions
parameter_server: ParameterServerStrategy=ParameterServerStrategyV2
replica_context: ReplicaContext
server: Server
strategy: Strategy
tpu: TPUStrategy
values: DistributedValues=DistributedValuesInterface
"""
_names = {}
for _line in _MODULES.strip().splitlines():
    _module, _, _text = _line.partition(": ")
    for _name in _text.split():
        _public, _other, _own = _name.partition("=")
        _names[_public] = (_module, _own if _other else _public)
__all__ = sorted([*_names, "coordinator"])
_missing = missing("tf.distribute")


def __getattr__(name):
    if name == "coordinator":
        from weft.distribute.experimental import coordinator_v2

        value = coordinator_v2()
    elif name in _names:
        file, own = _names[name]
        module = importlib.import_module("weft.distribute." + file)
        value = getattr(module, own) if own else module
    else:
        return _missing(name)
    globals()[name] = value
    return value


def __dir__():
    return list(__all__)
