"""tf.distribute.MultiWorkerMirroredStrategy: mirrored variables on the devices of all workers. Every worker runs the same program; they
meet in collectives."""

from weft import _weft
from weft._src.distribute import collectives, multi_worker_util, values, variable
from weft._src.distribute.cluster_resolver import ClusterResolver, TFConfigClusterResolver
from weft._src.distribute.cluster_spec import ClusterSpec
from weft._src.distribute.grouping import is_mirrored, regroup
from weft._src.distribute.mirrored import MirroredExtended
from weft._src.distribute.options import (
    CommunicationImplementation,
    CommunicationOptions,
    InputContext,
    InputReplicationMode,
    ReduceOp,
    ValueContext,
)
from weft._src.distribute.strategy import Strategy, StrategyV1
from weft._src.distribute.values import DistributedValues
from weft._src.framework import nest
from weft._src.framework.device import device
from weft._src.trackable.base import CheckpointInitialValue


class CollectiveAllReduceExtended(MirroredExtended):
    """The devices of this worker, and what the others do with theirs."""

    def __init__(self, container_strategy, cluster_resolver=None, communication_options=None):
        options = CommunicationOptions() if communication_options is None else communication_options
        if not isinstance(options, CommunicationOptions):
            raise ValueError(
                "communication_options must be an instance of tf.distribute.experimental.CommunicationOptions"
            )
        resolver = cluster_resolver or TFConfigClusterResolver()
        if not isinstance(resolver, ClusterResolver):
            raise ValueError("cluster_resolver must be an instance of tf.distribute.cluster_resolver.ClusterResolver")
        self._cluster_resolver, self._communication_options = resolver, options
        self._cluster_spec = self._task_type = self._task_id = None
        self._num_workers, self._id_in_cluster, self._is_chief = 1, 0, True
        spec = ClusterSpec(resolver.cluster_spec())
        if spec:
            self._join(spec)
        super().__init__(container_strategy, _devices(resolver))
        self._keys = collectives.CollectiveKeys()
        group_size = len(self._devices) * self._num_workers
        self._collectives = collectives.CollectiveOps(self._devices, group_size, options, self._keys)
        host = [values.full_device("/device:CPU:0")]
        self._host_collectives = collectives.CollectiveOps(host, self._num_workers, options, self._keys)
        self.experimental_enable_get_next_as_optional = True

    def _join(self, spec):
        """This process becomes a task of the cluster."""
        resolver = self._cluster_resolver
        task_type, task_id = resolver.task_type, resolver.task_id
        if task_type is None or task_id is None:
            raise ValueError("When `cluster_spec` is given, you must also specify `task_type` and `task_id`.")
        self._cluster_spec, self._task_type, self._task_id = spec, task_type, task_id
        self._id_in_cluster = multi_worker_util.id_in_cluster(spec, task_type, task_id)
        self._num_workers = multi_worker_util.worker_count(spec, task_type)
        if not self._num_workers:
            raise ValueError("No `worker`, `chief` or `evaluator` tasks can be found in `cluster_spec`.")
        self._is_chief = multi_worker_util.is_chief(spec, task_type, task_id)
        if self._num_workers > 1:
            _enable(resolver, spec, task_type, task_id)

    # ---- facts

    @property
    def _num_replicas_in_sync(self):
        return len(self._devices) * self._num_workers

    def _in_multi_worker_mode(self):
        return self._num_workers > 1

    def _get_replica_id_in_sync_group(self, replica_id):
        return self._id_in_cluster * len(self._devices) + replica_id

    def _get_local_replica_id(self, replica_id_in_sync_group):
        return replica_id_in_sync_group - self._id_in_cluster * len(self._devices)

    experimental_between_graph = True
    experimental_should_init = True

    @property
    def should_checkpoint(self):
        return self._is_chief

    @property
    def should_save_summary(self):
        return self._is_chief

    # ---- variables

    def _create_variable(self, next_creator, **kwargs):
        if self._num_workers == 1:
            return super()._create_variable(next_creator, **kwargs)
        colocate_with = kwargs.pop("colocate_with", None)
        devices = self._devices if colocate_with is None else colocate_with._devices
        return variable.create(self._container_strategy(), devices, next_creator, kwargs, self._of_chief)

    def _of_chief(self, initial_value, where, dtype):
        """An initial value that all workers get from the chief."""

        def value():
            group = self._keys.group([where])
            instance = self._keys.instance(group, where)
            with device(where):
                own = initial_value() if callable(initial_value) else initial_value
                if isinstance(own, CheckpointInitialValue):
                    own = own.wrapped_value
                own = _weft.convert(own, dtype)
                return collectives.broadcast(own, self._is_chief, self._num_workers, group, instance)

        return value

    # ---- values of replicas

    def _ways(self, value):
        count = len(value._values) if isinstance(value, DistributedValues) else 1
        return self._collectives if count == len(self._devices) else self._host_collectives

    def _reduce_to(self, reduce_op, value, destinations, options):
        if self._num_workers == 1:
            return super()._reduce_to(reduce_op, value, destinations, options)
        if is_mirrored(value) and reduce_op == ReduceOp.MEAN:
            return value
        assert not is_mirrored(value)
        if nest.is_nested(value) and any(isinstance(v, DistributedValues) for v in nest.flatten(value)):
            return nest.map_structure(lambda v: self._reduce_to(reduce_op, v, destinations, options), value)
        if isinstance(value, DistributedValues) and len(self._devices) == 1:
            value = value._values[0]
        merged = self._communication_options.merge(options)
        return self._ways(value).reduce(reduce_op, value, destinations=destinations, options=merged)

    def _batch_reduce_to(self, reduce_op, value_destination_pairs, options):
        if self._num_workers == 1:
            return super()._batch_reduce_to(reduce_op, value_destination_pairs, options)
        ways = {self._ways(value) for value, _ in value_destination_pairs}
        if len(ways) > 1:
            raise ValueError("Inputs to batch_reduce_to must be either all on the host or all on the compute devices.")
        merged = self._communication_options.merge(options)
        return ways.pop().batch_reduce(reduce_op, value_destination_pairs, merged) if ways else []

    def _gather_to_implementation(self, value, destinations, axis, options):
        if self._num_workers == 1:
            return super()._gather_to_implementation(value, destinations, axis, options)
        merged = self._communication_options.merge(options)
        return self._ways(value)._gather(value, destinations=destinations, axis=axis, options=merged)

    def _experimental_distribute_values_from_function(self, value_fn):
        count, first = self._num_replicas_in_sync, self._get_replica_id_in_sync_group(0)
        made = [value_fn(ValueContext(first + i, count)) for i in range(len(self._devices))]
        return regroup(made, always_wrap=True)

    # ---- input

    def _input_context(self):
        return InputContext(self._num_workers, self._id_in_cluster, self._num_replicas_in_sync)

    def _check_input(self, options):
        if options is not None and options.experimental_replication_mode == InputReplicationMode.PER_REPLICA:
            raise NotImplementedError(
                "InputReplicationMode.PER_REPLICA is only supported in `distribute_datasets_from_function` of "
                "tf.distribute.MirroredStrategy"
            )

    def _experimental_distribute_dataset(self, dataset, options):
        from weft._src.distribute.input import DistributedDataset

        self._check_input(options)
        return DistributedDataset(self._container_strategy(), [self._devices], dataset, self._input_context())

    def _distribute_datasets_from_function(self, dataset_fn, options):
        from weft._src.distribute.input import DistributedDatasetsFromFunction

        self._check_input(options)
        contexts = [self._input_context()]
        return DistributedDatasetsFromFunction(self._container_strategy(), [self._devices], contexts, dataset_fn)

    def __deepcopy__(self, memo):
        raise ValueError("MultiWorkerMirroredStrategy cannot be deep copied in eager mode.")


def _devices(resolver):
    """Of this worker: its GPUs, else its first CPU."""
    from weft._src.framework.config import list_logical_devices

    gpus = [d.name for d in list_logical_devices("GPU")]
    if not isinstance(resolver, TFConfigClusterResolver):
        gpus = gpus[: resolver.num_accelerators().get("GPU", 0)]
    return gpus or [values.full_device("/device:CPU:0")]


def _enable(resolver, spec, task_type, task_id):
    """This process serves the task, and its devices have the task's names."""
    from weft._src.framework.eager_context import context
    from weft._src.proto import CoordinatedJob, ServerDef

    definition = ServerDef()
    definition.cluster.CopyFrom(spec.as_cluster_def())
    definition.job_name, definition.task_index = task_type, task_id
    definition.protocol = getattr(resolver, "rpc_layer", None) or "grpc"
    definition.port = getattr(resolver, "port", 0)
    config = definition.default_session_config
    config.experimental.collective_group_leader = multi_worker_util.leader(spec, task_type, task_id)
    config.device_filters.append(f"/job:{task_type}/task:{task_id}")
    if context().coordination_service is None and task_type in ("chief", "worker"):
        # Tasks wait here until all are there; later, a lost one ends the collectives that wait for it.
        context().configure_coordination_service(
            service_type="standalone",
            service_leader=config.experimental.collective_group_leader,
            coordinated_jobs=[
                CoordinatedJob(name=job, num_tasks=spec.num_tasks(job))
                for job in ("chief", "worker")
                if job in spec.jobs
            ],
        )
    if context().coordination_service is not None:
        config.experimental.coordination_config.CopyFrom(context().coordination_service)
    _weft.enable_collective_ops(definition.SerializeToString())
    values._own_task[:] = [task_type, task_id]


class CollectiveAllReduceStrategy(Strategy):
    """Synchronous training on the devices of all workers."""

    def __init__(self, cluster_resolver=None, communication_options=None):
        super().__init__(CollectiveAllReduceExtended(self, cluster_resolver, communication_options))

    def reduce(self, reduce_op, value, axis):
        # Keras 3 asks for the mean of its metrics, which are scalars, along the first axis of each worker's values.
        if axis == 0 and self.extended._in_multi_worker_mode() and _is_scalar(value):
            axis = None
        return super().reduce(reduce_op, value, axis)


def _is_scalar(value):
    parts = value._values if isinstance(value, DistributedValues) else (value,)
    return all(isinstance(v, _weft.TensorBase) and v.shape.rank == 0 for v in parts)


class CollectiveAllReduceStrategyExperimental(CollectiveAllReduceStrategy):
    """tf.distribute.experimental.MultiWorkerMirroredStrategy: the same, asked for in another way."""

    def __init__(self, communication=CommunicationImplementation.AUTO, cluster_resolver=None):
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication))


class CollectiveAllReduceStrategyV1(StrategyV1):
    """Version 1's."""

    def __init__(self, communication=CommunicationImplementation.AUTO, cluster_resolver=None):
        options = CommunicationOptions(implementation=communication)
        super().__init__(CollectiveAllReduceExtended(self, cluster_resolver, options))
