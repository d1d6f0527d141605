"""tf.distribute.MirroredStrategy: a replica on each device of this process, with variables that are alike."""

from weft import _weft
from weft._src.distribute import context, replicas, values, variable
from weft._src.distribute.cross_device_ops import CollectiveAllReduce, ReductionToOneDevice, devices_of, reduce_plain
from weft._src.distribute.extended import StrategyExtendedV1, check_colocation
from weft._src.distribute.grouping import is_mirrored, regroup, select_replica, update_regroup, value_container
from weft._src.distribute.options import InputContext, InputReplicationMode, ReduceOp, ValueContext
from weft._src.distribute.strategy import Strategy, StrategyV1
from weft._src.distribute.values import DistributedValues, full_device
from weft._src.framework import dtypes, nest
from weft._src.framework.device import DeviceSpec, device
from weft._src.framework.graph import name_scope
from weft._src.framework.misc import get_logger


def local_devices():
    """The logical devices of this process: its GPUs, or its CPUs."""
    from weft._src.framework.config import list_logical_devices

    return [d.name for d in list_logical_devices("GPU") or list_logical_devices("CPU")]


def _checked(devices):
    names = [getattr(d, "name", d) for d in devices]
    specs = [DeviceSpec.from_string(name) for name in names]
    local = [spec.job in (None, "localhost") or [spec.job, spec.task] == values._own_task for spec in specs]
    if any(local) and not all(local):
        raise ValueError(
            "Local device should have only 'localhost' in the job field in device string. E.g. 'job:localhost' in "
            "/job:localhost/replica:0/task:0/device:CPU:0Devices cannot have mixed list of device strings containing "
            "both localhost and other job types such as worker, ps etc. "
        )
    if not all(local):
        if len({(s.job, s.task, s.replica) for s in specs}) > 1:
            raise RuntimeError("In-graph multi-worker training with `MirroredStrategy` is not supported in eager mode.")
        raise NotImplementedError("tf.distribute.MirroredStrategy on devices of another process")
    return tuple(full_device(name) for name in names)


def _is_int32(value):
    parts = value._values if isinstance(value, DistributedValues) else (value,)
    return any(getattr(v, "dtype", None) == dtypes.int32 for v in parts)


class MirroredExtended(StrategyExtendedV1):
    """Replicas on several devices of one process."""

    def __init__(self, container_strategy, devices=None, cross_device_ops=None):
        super().__init__(container_strategy)
        devices = devices or local_devices()
        assert devices, "Got an empty `devices` list and unable to recognize any local devices."
        devices = _checked(devices)
        assert len(set(devices)) == len(devices), f"No duplicates allowed in `devices` argument: {devices}"
        self._devices = devices
        self._cross_device_ops = cross_device_ops or CollectiveAllReduce()
        get_logger().info(f"Using {type(container_strategy).__name__} with devices {devices!r}")

    # ---- facts

    @property
    def worker_devices(self):
        return self._devices

    @property
    def worker_devices_by_replica(self):
        return [[d] for d in self._devices]

    @property
    def parameter_devices(self):
        return self._devices

    @property
    def _num_replicas_in_sync(self):
        return len(self._devices)

    experimental_between_graph = False
    experimental_should_init = should_checkpoint = should_save_summary = True

    def _in_multi_worker_mode(self):
        return False

    def non_slot_devices(self, var_list):
        return self._devices

    def value_container(self, value):
        return value_container(value)

    # ---- variables

    def _create_variable(self, next_creator, **kwargs):
        colocate_with = kwargs.pop("colocate_with", None)
        devices = self._devices if colocate_with is None else colocate_with._devices
        return variable.create(self._container_strategy(), devices, next_creator, kwargs)

    def _validate_colocate_with_variable(self, colocate_with_variable):
        check_colocation(colocate_with_variable, self, variable.DistributedVariable)

    def read_var(self, v):
        from weft._src.ops.array_ops import identity

        if is_mirrored(v):
            return identity(v._get())
        found = v._get_cross_replica()
        return found.value() if isinstance(found, _weft.VariableBase) else found

    def _update(self, var, fn, args, kwargs, group):
        assert isinstance(var, variable.DistributedVariable)
        return self._update_each([v.device for v in var.values], fn, args, kwargs, group, var.values)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        assert isinstance(colocate_with, tuple)
        return self._update_each(colocate_with, fn, args, kwargs, group)

    def _update_each(self, devices, fn, args, kwargs, group, copies=None):
        updates = []
        for i, where in enumerate(devices):
            with device(where), context.updating(i), name_scope(f"update_{i}"):
                first = () if copies is None else (copies[i],)
                updates.append(fn(*first, *select_replica(i, args), **select_replica(i, kwargs)))
        return update_regroup(self, updates, group)

    # ---- replicas and their values

    def _call_for_each_replica(self, fn, args, kwargs):
        return replicas.call_for_each_replica(self._container_strategy(), fn, args, kwargs)

    def _experimental_distribute_values_from_function(self, value_fn):
        count = self._num_replicas_in_sync
        return regroup([value_fn(ValueContext(i, count)) for i in range(count)], always_wrap=True)

    def _broadcast_to(self, tensor, destinations):
        if isinstance(tensor, (float, int)):
            return tensor
        return self._cross_device_ops.broadcast(tensor, destinations)

    def _reduce_to(self, reduce_op, value, destinations, options):
        if is_mirrored(value) and reduce_op == ReduceOp.MEAN:
            return value
        assert not is_mirrored(value)

        def reduced(one):
            if not isinstance(one, DistributedValues):
                return reduce_plain(reduce_op, one, destinations, self._num_replicas_in_sync)
            ways = self._cross_device_ops
            if set(devices_of(one)) != set(devices_of(destinations)) or _any_cpu(devices_of(destinations)):
                ways = ReductionToOneDevice()
            return ways.reduce(reduce_op, one, destinations=destinations, options=options)

        return nest.map_structure(reduced, value)

    def _batch_reduce_to(self, reduce_op, value_destination_pairs, options):
        # TensorFlow reduces each int32 on the host by an object of its own and takes only one in a call.
        if len(value_destination_pairs) > 1 and any(_is_int32(value) for value, _ in value_destination_pairs):
            raise ValueError("Inputs to batch_reduce_to must be either all on the host or all on the compute devices.")
        return self._cross_device_ops.batch_reduce(reduce_op, value_destination_pairs, options)

    def _gather_to_implementation(self, value, destinations, axis, options):
        if not isinstance(value, DistributedValues):
            return value
        return self._cross_device_ops._gather(value, destinations=destinations, axis=axis, options=options)

    # ---- input

    def _pipelines(self, options=None):
        """The devices of each input pipeline."""
        if options is not None and options.experimental_replication_mode == InputReplicationMode.PER_REPLICA:
            return [(d,) for d in self._devices]
        return [self._devices]

    def _make_dataset_iterator(self, dataset):
        return iter(self._experimental_distribute_dataset(dataset, None))

    def _make_input_fn_iterator(self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        return iter(self._distribute_datasets_from_function(input_fn, None))

    def _experimental_distribute_dataset(self, dataset, options):
        from weft._src.distribute.input import DistributedDataset

        if options is not None and options.experimental_replication_mode == InputReplicationMode.PER_REPLICA:
            raise NotImplementedError(
                "InputReplicationMode.PER_REPLICA is only supported in `distribute_datasets_from_function`."
            )
        return DistributedDataset(self._container_strategy(), self._pipelines(options), dataset=dataset)

    def _distribute_datasets_from_function(self, dataset_fn, options):
        from weft._src.distribute.input import DistributedDatasetsFromFunction

        pipelines = self._pipelines(options)
        contexts = [InputContext(len(pipelines), i, self._num_replicas_in_sync) for i in range(len(pipelines))]
        return DistributedDatasetsFromFunction(self._container_strategy(), pipelines, contexts, dataset_fn)


def _any_cpu(devices):
    return any("cpu" in d.lower() for d in devices)


class MirroredStrategy(Strategy):
    """Synchronous training on several devices of one machine."""

    _collective_key_base = 0  # tests of libraries count it up: keys of groups differ without it

    def __init__(self, devices=None, cross_device_ops=None):
        super().__init__(MirroredExtended(self, devices=devices, cross_device_ops=cross_device_ops))


class MirroredStrategyV1(StrategyV1):
    """Version 1's."""

    _collective_key_base = 0

    def __init__(self, devices=None, cross_device_ops=None):
        super().__init__(MirroredExtended(self, devices=devices, cross_device_ops=cross_device_ops))
