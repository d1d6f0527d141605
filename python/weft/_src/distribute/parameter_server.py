"""tf.distribute.ParameterServerStrategy: variables on parameter servers, steps on workers, given to them by a ClusterCoordinator
in a process of its own, whose program this is."""

import collections
import contextlib
import functools
import inspect

from weft import _weft
from weft._src.distribute import context
from weft._src.distribute.cluster_spec import ClusterSpec
from weft._src.distribute.multi_worker_util import check_cluster
from weft._src.distribute.one_device import OneDeviceExtended
from weft._src.distribute.options import InputContext, InputReplicationMode
from weft._src.distribute.sharded_variable import ShardedVariable
from weft._src.distribute.strategy import Strategy, StrategyV1
from weft._src.framework import dtypes, nest
from weft._src.framework.device import device
from weft._src.framework.misc import get_logger
from weft._src.framework.tensor_shape import TensorShape
from weft._src.trackable.base import CheckpointInitialValueCallable

# What an initial value that takes it is told of the part that it is for.
ShardInfo = collections.namedtuple("ShardInfo", "shape offset")


class ParameterServerExtended(OneDeviceExtended):
    """A step has one replica, on the worker that runs it."""

    def __init__(self, container_strategy, cluster_resolver, variable_partitioner):
        super().__init__(container_strategy, "/device:CPU:0")
        self._device = ""  # that of whichever task runs the step
        self._cluster_resolver = cluster_resolver
        self._num_ps, self._num_workers = container_strategy._num_ps, container_strategy._num_workers
        self._variable_partitioner = variable_partitioner
        self._variable_count = 0
        self._used_with_coordinator = self._being_scheduled = False

    @property
    def worker_devices(self):
        return ("/device:CPU:0",)

    @property
    def parameter_devices(self):
        return tuple(f"/job:ps/task:{i}/device:CPU:0" for i in range(self._num_ps))

    def _in_multi_worker_mode(self):
        return False

    def non_slot_devices(self, var_list):
        return min(var_list, key=lambda v: v.name)

    # ---- variables

    def _create_variable(self, next_creator, **kwargs):
        colocate_with = kwargs.pop("colocate_with", None)
        if kwargs.pop("per_worker_variable", False):
            from weft._src.distribute.per_worker_variable import PerWorkerVariable

            return PerWorkerVariable(self._container_strategy(), next_creator, **kwargs)
        if colocate_with is not None:
            where = colocate_with if isinstance(colocate_with, str) else colocate_with.device
            with device(None), device(where):
                return self._own(next_creator(**kwargs))
        if self._variable_partitioner is None:
            return self._round_robin(next_creator, kwargs)
        return self._partitioned(next_creator, kwargs)

    def _create_table(self, make):
        from weft._src.distribute.coordinator import ClusterCoordinator
        from weft._src.distribute.distributed_table import DistributedTable

        strategy = self._container_strategy()
        ClusterCoordinator(strategy)  # the one that there is, or the first
        return DistributedTable(strategy, make)

    def _own(self, made):
        made._distribute_strategy = self._container_strategy()
        return made

    def _round_robin(self, next_creator, kwargs):
        where = self.parameter_devices[self._variable_count % self._num_ps]
        with device(None), device(where):
            made = self._own(next_creator(**kwargs))
        self._variable_count += 1
        return made

    def _partitioned(self, next_creator, kwargs):
        """Divided as the partitioner says; parts have the rows of one after the other."""
        name, dtype, shape = kwargs.get("name"), kwargs.get("dtype"), kwargs.get("shape")
        initial_value = kwargs.get("initial_value")
        if initial_value is None:
            raise ValueError(
                "It looks like you are using `ParameterServerStrategy` with a `variable_partitioner`, and trying to create a "
                "variable without specifying `initial_value`. This is not allowed. Please specify the `initial_value`."
            )
        is_function = callable(initial_value)
        if is_function and (shape is None or dtype is None):
            is_function, initial_value = False, initial_value()
        if is_function:
            shape = TensorShape(shape)
        else:
            initial_value = _weft.convert(initial_value, None if dtype is None else dtypes.as_dtype(dtype))
            dtype, shape = initial_value.dtype, initial_value.shape
        if shape.rank == 0:
            return self._round_robin(next_creator, kwargs)
        parts = self._variable_partitioner(shape=shape, dtype=dtype)
        if not parts or parts[0] == 0 or any(n != 1 for n in parts[1:]):
            raise ValueError(
                "variable_partitioner must return a list/tuple whose elements are 1 besides the first element (non-zero), got: "
                f"{parts!r}"
            )
        if parts[0] == 1:
            return self._round_robin(next_creator, kwargs)
        count, columns = min(parts[0], shape[0]), tuple(shape.as_list()[1:])
        made, offset = [], 0
        for i in range(count):
            size = shape[0] // count + (i < shape[0] % count)
            value = functools.partial(_rows, initial_value, is_function, offset, size, columns)
            own = dict(kwargs, shape=(size, *columns), initial_value=value)
            if name is not None:
                own["name"] = f"{name}/part_{i}"
            made.append(self._round_robin(next_creator, own))
            offset += size
        return ShardedVariable(made)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        # In a function the ops on variables go where those are; what is computed from several of them stays on the worker.
        where = colocate_with if isinstance(colocate_with, str) else colocate_with.device
        with contextlib.ExitStack() as scope:
            if not _weft.in_graph():
                scope.enter_context(device(None))
                scope.enter_context(device(where))
            scope.enter_context(context.updating(0))
            result = fn(*args, **kwargs)
        return result if group else nest.map_structure(self._local_results, result)

    # ---- steps

    def _call_for_each_replica(self, fn, args, kwargs):
        self._warn_unscheduled()
        return super()._call_for_each_replica(fn, args, kwargs)

    def _warn_unscheduled(self):
        from weft._src.distribute.remote_value import current_worker

        if not self._being_scheduled and current_worker() is None:
            get_logger().warning(
                "A `tf.distribute.experimental.ParameterServerStrategy` method is invoked without using "
                "`ClusterCoordinator.schedule`. If you are not tracing a tf.function, this method is possibly executed on the "
                "coordinator, which can be slow. To properly dispatch functions to run on workers, methods like `run` or "
                "`reduce` should be used within a function passed to "
                "`tf.distribute.experimental.coordinator.ClusterCoordinator.schedule`."
            )

    # ---- input: datasets are made on workers

    def _experimental_distribute_dataset(self, dataset, options):
        from weft._src.distribute.input import DistributedDataset

        _only_per_worker(options)
        return DistributedDataset(
            self._container_strategy(), [(self._device,)], dataset, per_worker=not _weft.in_graph()
        )

    def _distribute_datasets_from_function(self, dataset_fn, options):
        from weft._src.distribute.input import DistributedDatasetsFromFunction

        _only_per_worker(options)
        contexts = [InputContext(num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1)]
        made = [(self._device,)], contexts, dataset_fn
        return DistributedDatasetsFromFunction(self._container_strategy(), *made, per_worker=not _weft.in_graph())


def _only_per_worker(options):
    if options is not None and options.experimental_replication_mode == InputReplicationMode.PER_REPLICA:
        raise NotImplementedError("InputReplicationMode.PER_REPLICA with tf.distribute.ParameterServerStrategy")


def _rows(initial_value, is_function, offset, size, columns):
    """The initial value of a part: made alone where the function can do that, else cut out of the whole."""
    if not is_function:
        return initial_value[offset : offset + size]
    shape, begin = (size, *columns), (offset, *[0] * len(columns))
    if isinstance(initial_value, CheckpointInitialValueCallable):
        return initial_value().wrapped_value[offset : offset + size]
    if "shard_info" in inspect.signature(initial_value).parameters:
        return initial_value(shard_info=ShardInfo(shape=TensorShape(shape), offset=begin))
    try:
        value = initial_value(partition_shape=shape, partition_offset=begin)
    except (TypeError, ValueError):
        value = initial_value()
    value = _weft.convert(value, None)
    return value if tuple(value.shape.as_list()) == shape else value[offset : offset + size]


class ParameterServerStrategyV2(Strategy):
    """Variables on parameter servers, steps on workers that do not wait for each other."""

    _is_parameter_server_strategy_v2 = True
    _should_use_with_coordinator = True

    def __init__(self, cluster_resolver, variable_partitioner=None):
        from weft._src.framework.config import connect_to_cluster

        self._cluster_coordinator = None
        spec = ClusterSpec(cluster_resolver.cluster_spec())
        if not spec:
            raise ValueError("Cluster spec must be non-empty in `tf.distribute.cluster_resolver.ClusterResolver`.")
        check_cluster(spec, cluster_resolver.task_type, cluster_resolver.task_id)
        jobs = spec.as_dict()
        self._num_workers, self._num_ps = len(jobs.get("worker", ())), len(jobs.get("ps", ()))
        if self._num_ps < 1:
            raise ValueError("There must be at least one ps.")
        if self._num_workers < 1:
            raise ValueError("There must be at least one worker.")
        get_logger().info(f"{type(self).__name__} is now connecting to cluster with cluster_spec: {spec!r}")
        connect_to_cluster(spec, job_name="chief", protocol=getattr(cluster_resolver, "rpc_layer", None))
        super().__init__(ParameterServerExtended(self, cluster_resolver, variable_partitioner))

    def __deepcopy__(self, memo):
        raise NotImplementedError("copies of a tf.distribute.ParameterServerStrategy: it is connected to a cluster")


class ParameterServerStrategyV1(StrategyV1):
    """tf.compat.v1.distribute.experimental.ParameterServerStrategy"""

    def __init__(self, cluster_resolver=None):
        raise NotImplementedError(
            "tf.compat.v1.distribute.experimental.ParameterServerStrategy: training between graphs, with a session for each worker; "
            "tf.distribute.ParameterServerStrategy runs on clusters"
        )
