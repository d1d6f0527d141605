"""tf.distribute.TPUStrategy: there so that programs can test for it; weft has no such devices."""

from weft._src.distribute.strategy import Strategy, StrategyV1


def _refuse(name):
    raise NotImplementedError(f"{name}: weft's engine has no TPU devices")


class TPUStrategy(Strategy):
    """Replicas on the cores of TPUs."""

    def __init__(
        self, tpu_cluster_resolver=None, experimental_device_assignment=None, experimental_spmd_xla_partitioning=False
    ):
        if tpu_cluster_resolver is None:
            from weft._src.distribute.cluster_resolver import TPUClusterResolver

            TPUClusterResolver()
        _refuse("tf.distribute.TPUStrategy")

    def experimental_assign_to_logical_device(self, tensor, logical_device_id):
        _refuse("TPUStrategy.experimental_assign_to_logical_device")

    def experimental_replicate_to_logical_devices(self, tensor):
        _refuse("TPUStrategy.experimental_replicate_to_logical_devices")

    def experimental_split_to_logical_devices(self, tensor, partition_dimensions):
        _refuse("TPUStrategy.experimental_split_to_logical_devices")


class TPUStrategyExperimental(Strategy):
    """tf.distribute.experimental.TPUStrategy"""

    def __init__(self, tpu_cluster_resolver=None, device_assignment=None):
        _refuse("tf.distribute.experimental.TPUStrategy")


class TPUStrategyV1(StrategyV1):
    """tf.compat.v1.distribute.experimental.TPUStrategy"""

    def __init__(self, tpu_cluster_resolver=None, steps_per_run=None, device_assignment=None):
        _refuse("tf.compat.v1.distribute.experimental.TPUStrategy")
