"""tf.compat.v1.distribute.experimental"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
distribute.central_storage: CentralStorageStrategy=CentralStorageStrategyV1
distribute.multi_worker: MultiWorkerMirroredStrategy=CollectiveAllReduceStrategyV1
distribute.options: CollectiveCommunication=CommunicationImplementation CollectiveHints CommunicationImplementation
distribute.options: CommunicationOptions
distribute.parameter_server: ParameterServerStrategy=ParameterServerStrategyV1
distribute.tpu: TPUStrategy=TPUStrategyV1
"""

__getattr__, __dir__ = _lazily(globals(), "tf.compat.v1.distribute.experimental", _MODULES)
__all__ = __dir__()
