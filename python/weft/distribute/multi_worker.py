"""tf.distribute.MultiWorkerMirroredStrategy"""

from weft.distribute.strategy import Strategy


class CollectiveAllReduceStrategy(Strategy):
    """Mirrored variables on the devices of all workers."""

    def __init__(self, cluster_resolver=None, communication_options=None):
        raise NotImplementedError("tf.distribute.MultiWorkerMirroredStrategy")
