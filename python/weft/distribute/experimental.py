"""tf.distribute.experimental"""

import importlib
from types import ModuleType as _Module

from weft._missing import missing

_WHERE = {
    "CentralStorageStrategy": ("central_storage", "CentralStorageStrategy"),
    "CollectiveCommunication": ("options", "CommunicationImplementation"),
    "CollectiveHints": ("options", "CollectiveHints"),
    "CommunicationImplementation": ("options", "CommunicationImplementation"),
    "CommunicationOptions": ("options", "CommunicationOptions"),
    "MultiWorkerMirroredStrategy": ("multi_worker", "CollectiveAllReduceStrategyExperimental"),
    "ParameterServerStrategy": ("parameter_server", "ParameterServerStrategyV2"),
    "TPUStrategy": ("tpu", "TPUStrategyExperimental"),
    "ValueContext": ("options", "ValueContext"),
    "partitioners": ("partitioners", None),
}
__all__ = [*_WHERE, "coordinator"]
_missing = missing("tf.distribute.experimental")


def __getattr__(name):
    if name == "coordinator":
        value = _coordinator("tf.distribute.experimental.coordinator", "PerWorkerValues")
    elif name in _WHERE:
        file, own = _WHERE[name]
        module = importlib.import_module("weft.distribute." + file)
        value = module if own is None else getattr(module, own)
    else:
        return _missing(name)
    globals()[name] = value
    return value


def _coordinator(name, per_worker, **others):
    """tf.distribute.coordinator, under both of its names."""
    from weft.distribute import parameter_server as own

    made = _Module(name.replace("tf.", "weft.", 1))
    members = {"ClusterCoordinator": own.ClusterCoordinator, "RemoteValue": own.RemoteValue, **others}
    made.__dict__.update(members, __all__=sorted([*members, per_worker]), __getattr__=missing(name))
    made.__dict__[per_worker] = own.PerWorkerValues
    return made


def coordinator_v2():
    """tf.distribute.coordinator"""
    from weft.distribute.parameter_server import experimental_get_current_worker_index as current

    return _coordinator("tf.distribute.coordinator", "PerWorkerValue", experimental_get_current_worker_index=current)


def __dir__():
    return list(__all__)
