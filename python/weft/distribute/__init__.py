"""tf.distribute: the same program on several devices. Names are loaded when they are first used.

context.py          which strategy and which replica the running code belongs to
strategy.py         what every strategy can do; extended.py: what each does in its own way
default.py          the strategy of programs that have none
replica_context.py  a replica's own view; replicas.py: replicas as threads that take turns
values.py           a value for each replica; variable.py: a variable for each replica
cross_device_ops.py how values of replicas become one
input.py            datasets and iterators that give each replica its part
"""

import importlib

from weft._missing import missing

# module of this package: names; "public=own" where the module has another name for it
_MODULES = """
cross_device_ops: CrossDeviceOps HierarchicalCopyAllReduce NcclAllReduce ReductionToOneDevice
mirrored: MirroredStrategy
context: experimental_set_strategy get_replica_context get_strategy has_strategy in_cross_replica_context
multi_worker: MultiWorkerMirroredStrategy=CollectiveAllReduceStrategy
tpu: TPUStrategy
input_types: DistributedDataset=DistributedDatasetInterface DistributedIterator=DistributedIteratorInterface
options: InputContext InputOptions InputReplicationMode ReduceOp RunOptions
extended: StrategyExtended=StrategyExtendedV2
replica_context: ReplicaContext
strategy: Strategy
values: DistributedValues=DistributedValuesInterface
"""
_names = {}
for _line in _MODULES.strip().splitlines():
    _module, _, _text = _line.partition(": ")
    for _name in _text.split():
        _public, _, _own = _name.partition("=")
        _names[_public] = (_module, _own or _public)
__all__ = sorted(_names)
_missing = missing("tf.distribute")


def __getattr__(name):
    found = _names.get(name)
    if found is None:
        return _missing(name)
    module = importlib.import_module("weft.distribute." + found[0])
    value = globals()[name] = module if found[1] == "_self" else getattr(module, found[1])
    return value


def __dir__():
    return list(__all__)
