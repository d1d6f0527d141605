"""tf.compat.v1.distribute: version 1's faces of the strategies."""

import importlib as _importlib
from types import ModuleType as _Module

from weft._missing import missing as _missing

_WHERE = {
    "CrossDeviceOps": "cross_device_ops",
    "HierarchicalCopyAllReduce": "cross_device_ops",
    "InputContext": "options",
    "InputReplicationMode": "options",
    "MirroredStrategy": "mirrored MirroredStrategyV1",
    "NcclAllReduce": "cross_device_ops",
    "OneDeviceStrategy": "one_device OneDeviceStrategyV1",
    "ReduceOp": "options",
    "ReductionToOneDevice": "cross_device_ops",
    "ReplicaContext": "replica_context ReplicaContextV1",
    "RunOptions": "options",
    "Server": "server",
    "Strategy": "strategy StrategyV1",
    "StrategyExtended": "extended StrategyExtendedV1",
    "experimental_set_strategy": "context",
    "get_replica_context": "context",
    "get_strategy": "context",
    "has_strategy": "context",
    "in_cross_replica_context": "context",
}
_EXPERIMENTAL = {
    "CentralStorageStrategy": "central_storage CentralStorageStrategyV1",
    "CollectiveCommunication": "options CommunicationImplementation",
    "CollectiveHints": "options",
    "CommunicationImplementation": "options",
    "CommunicationOptions": "options",
    "MultiWorkerMirroredStrategy": "multi_worker CollectiveAllReduceStrategyV1",
    "ParameterServerStrategy": "parameter_server ParameterServerStrategyV1",
    "TPUStrategy": "tpu TPUStrategyV1",
}
__all__ = sorted([*_WHERE, "cluster_resolver", "experimental", "get_loss_reduction"])
_none = _missing("tf.compat.v1.distribute")


def _load(where, name):
    file, _, own = where[name].partition(" ")
    return getattr(_importlib.import_module("weft.distribute." + file), own or name)


def get_loss_reduction():
    """How losses of replicas are put together: added up, unless a library has said otherwise."""
    from weft.distribute.options import ReduceOp

    return ReduceOp.SUM


def __getattr__(name):
    if name == "cluster_resolver":
        value = _importlib.import_module("weft.distribute.cluster_resolver")
    elif name == "experimental":
        value = _Module("weft.compat.v1.distribute.experimental")
        value.__getattr__ = _experimental
        value.__all__ = sorted(_EXPERIMENTAL)
    elif name in _WHERE:
        value = _load(_WHERE, name)
    else:
        return _none(name)
    globals()[name] = value
    return value


def _experimental(name):
    if name not in _EXPERIMENTAL:
        return _missing("tf.compat.v1.distribute.experimental")(name)
    return _load(_EXPERIMENTAL, name)


def __dir__():
    return list(__all__)
