"""tf.distribute.MultiWorkerMirroredStrategy: mirrored variables on the devices of all workers, of which this process must
be the only one."""

from weft._src.distribute.mirrored import MirroredExtended
from weft._src.distribute.options import CommunicationImplementation, CommunicationOptions
from weft._src.distribute.strategy import Strategy, StrategyV1


def _workers(spec):
    return sum(len(tasks) for job, tasks in spec.as_dict().items() if job in ("chief", "worker", "master"))


class CollectiveAllReduceExtended(MirroredExtended):
    """The devices of this worker."""

    def __init__(self, container_strategy, cluster_resolver=None, communication_options=None):
        from weft._src.distribute.cluster_resolver import TFConfigClusterResolver
        from weft._src.framework.config import list_logical_devices

        resolver = cluster_resolver or TFConfigClusterResolver()
        if _workers(resolver.cluster_spec()) > 1:
            raise NotImplementedError(
                "tf.distribute.MultiWorkerMirroredStrategy with more than one worker: weft has no remote execution; "
                f"the cluster is {resolver.cluster_spec()}"
            )
        gpus = [d.name for d in list_logical_devices("GPU")]
        super().__init__(container_strategy, gpus or ["/device:CPU:0"])
        self._cluster_resolver = resolver
        self._communication_options = communication_options or CommunicationOptions()
        self._task_type, self._task_id = resolver.task_type, resolver.task_id


class CollectiveAllReduceStrategy(Strategy):
    """Synchronous training on the devices of all workers."""

    def __init__(self, cluster_resolver=None, communication_options=None):
        super().__init__(CollectiveAllReduceExtended(self, cluster_resolver, communication_options))


class CollectiveAllReduceStrategyExperimental(CollectiveAllReduceStrategy):
    """tf.distribute.experimental.MultiWorkerMirroredStrategy: the same, asked for in another way."""

    def __init__(self, communication=CommunicationImplementation.AUTO, cluster_resolver=None):
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication))


class CollectiveAllReduceStrategyV1(StrategyV1):
    """Version 1's."""

    def __init__(self, communication=CommunicationImplementation.AUTO, cluster_resolver=None):
        options = CommunicationOptions(implementation=communication)
        super().__init__(CollectiveAllReduceExtended(self, cluster_resolver, options))
