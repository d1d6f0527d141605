"""tf.compat.v1.train.replica_device_setter: variables on parameter servers, all else on the worker."""

STANDARD_PS_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2") + (
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
    "DecisionTreeResource",
)


class _RoundRobin:
    """The servers in turn."""

    def __init__(self, number):
        self._number, self._next = number, 0

    def __call__(self, op):
        task = self._next
        self._next = (self._next + 1) % self._number
        return task


class _Chooser:
    def __init__(self, ps_tasks, ps_device, worker_device, merge_devices, ps_ops, ps_strategy):
        self._ps_tasks, self._ps_device, self._worker_device = ps_tasks, ps_device, worker_device
        self._merge, self._ops, self._strategy = merge_devices, ps_ops, ps_strategy

    def device_function(self, op):
        from weft._src.framework.device import DeviceSpec

        if not self._merge and op.device:
            return op.device
        current = DeviceSpec.from_string(op.device or "")
        if self._ps_tasks and self._ps_device and getattr(op, "type", None) in self._ops:
            server = DeviceSpec.from_string(self._ps_device)
            if server.job and (current.job is None or current.job == server.job):
                server = server.replace(task=self._strategy(op))
            return server.make_merged_spec(current).to_string()
        return DeviceSpec.from_string(self._worker_device or "").make_merged_spec(current).to_string()


def replica_device_setter(
    ps_tasks=0,
    ps_device="/job:ps",
    worker_device="/job:worker",
    merge_devices=True,
    cluster=None,
    ps_ops=None,
    ps_strategy=None,
):
    """A function for tf.device that tells the device of each op."""
    if cluster is not None:
        jobs = cluster.as_dict() if hasattr(cluster, "as_dict") else dict(cluster)
        job = ps_device.removeprefix("/job:").partition("/")[0]
        if job not in jobs or not ps_device.startswith("/job:"):
            return None
        ps_tasks = len(jobs[job])
    if ps_tasks == 0:
        return None
    if ps_strategy is None:
        ps_strategy = _RoundRobin(ps_tasks)
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    ops = list(STANDARD_PS_OPS) if ps_ops is None else ps_ops
    return _Chooser(ps_tasks, ps_device, worker_device, merge_devices, ops, ps_strategy).device_function
