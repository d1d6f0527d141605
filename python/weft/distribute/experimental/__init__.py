"""tf.distribute.experimental"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
distribute.central_storage: CentralStorageStrategy
distribute.multi_worker: MultiWorkerMirroredStrategy=CollectiveAllReduceStrategyExperimental
distribute.options: CollectiveCommunication=CommunicationImplementation CollectiveHints CommunicationImplementation
distribute.options: CommunicationOptions ValueContext
distribute.parameter_server: ParameterServerStrategy=ParameterServerStrategyV2
distribute.preemption: PreemptionCheckpointHandler TerminationConfig
distribute.tpu: TPUStrategy=TPUStrategyExperimental
"""

__getattr__, __dir__ = _lazily(globals(), "tf.distribute.experimental", _MODULES, ["coordinator", "partitioners"])
__all__ = __dir__()
