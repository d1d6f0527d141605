"""tf.compat.v1.train.replica_device_setter: a device function that has variables on parameter servers, in turns."""

import itertools

from weft._src.framework.device import DeviceSpec

# What keeps the state of training.
_STATE = """
Variable VariableV2 AutoReloadVariable MutableHashTable MutableHashTableV2 MutableHashTableOfTensors MutableHashTableOfTensorsV2
MutableDenseHashTable MutableDenseHashTableV2 VarHandleOp BoostedTreesEnsembleResourceHandleOp
BoostedTreesQuantileStreamResourceHandleOp ResourceConditionalAccumulator DecisionTreeResource
"""


def replica_device_setter(
    ps_tasks=0,
    ps_device="/job:ps",
    worker_device="/job:worker",
    merge_devices=True,
    cluster=None,
    ps_ops=None,
    ps_strategy=None,
):
    """For tf.device; None, which changes nothing, where there are no parameter servers."""
    if cluster is not None:
        from weft._src.distribute.cluster_spec import ClusterSpec

        job = DeviceSpec.from_string(ps_device).job
        ps_tasks = len(ClusterSpec(cluster).as_dict().get(job) or ())
    if ps_tasks == 0:
        return None
    names = _STATE.split() if ps_ops is None else list(ps_ops)
    if not merge_devices:
        from weft._src.compat.v1 import logging

        logging.warning("DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter")
    if ps_strategy is None:
        turns = itertools.cycle(range(ps_tasks))
        ps_strategy = lambda op: next(turns)  # noqa: E731
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")

    def place(op):
        if not merge_devices and op.device:
            return op.device
        now = DeviceSpec.from_string(op.device or "")
        wanted = DeviceSpec.from_string(worker_device or "")
        if ps_device and op.type in names:
            wanted = DeviceSpec.from_string(ps_device)
            if wanted.job and (not now.job or now.job == wanted.job):
                wanted = wanted.replace(task=ps_strategy(op))
        return wanted.make_merged_spec(now).to_string()

    return place
