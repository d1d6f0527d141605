"""tf.distribute.OneDeviceStrategy: everything on one device; the strategy to try programs with."""

from weft._src.distribute import context
from weft._src.distribute.extended import StrategyExtendedV1, check_colocation
from weft._src.distribute.options import InputContext, InputReplicationMode, ValueContext
from weft._src.distribute.replica_context import ReplicaContext
from weft._src.distribute.strategy import Strategy, StrategyV1
from weft._src.distribute.values import full_device
from weft._src.framework import nest
from weft._src.framework.device import device


class OneDeviceExtended(StrategyExtendedV1):
    """One replica, on one device."""

    def __init__(self, container_strategy, device):
        super().__init__(container_strategy)
        self._device = full_device(device)

    @property
    def worker_devices(self):
        return (self._device,)

    @property
    def parameter_devices(self):
        return (self._device,)

    _num_replicas_in_sync = 1
    experimental_between_graph = False
    experimental_should_init = should_checkpoint = should_save_summary = True

    def _in_multi_worker_mode(self):
        return False

    def non_slot_devices(self, var_list):
        return (self._device,)

    def value_container(self, value):
        return value

    # ---- variables

    def _create_variable(self, next_creator, **kwargs):
        kwargs.pop("colocate_with", None)
        with device(self._device):
            made = next_creator(**kwargs)
        made._distribute_strategy = self._container_strategy()
        return made

    def _validate_colocate_with_variable(self, colocate_with_variable):
        check_colocation(colocate_with_variable, self)

    def read_var(self, v):
        return v.read_value()

    def _update(self, var, fn, args, kwargs, group):
        return self._update_non_slot(var, fn, (var, *args), kwargs, group)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        with device(self._device), context.updating(0):
            result = fn(*args, **kwargs)
        return result if group else nest.map_structure(self._local_results, result)

    # ---- the replica and its values

    def _call_for_each_replica(self, fn, args, kwargs):
        with device(self._device), ReplicaContext(self._container_strategy(), replica_id_in_sync_group=0):
            return fn(*args, **kwargs)

    def _experimental_distribute_values_from_function(self, value_fn):
        return value_fn(ValueContext())

    def _broadcast_to(self, tensor, destinations):
        return tensor

    def _reduce_to(self, reduce_op, value, destinations, options):
        return value

    def _gather_to_implementation(self, value, destinations, axis, options):
        return value

    def _local_results(self, value):
        return (value,)

    # ---- input

    def _make_dataset_iterator(self, dataset):
        return iter(self._experimental_distribute_dataset(dataset, None))

    def _make_input_fn_iterator(self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        return iter(self._distribute_datasets_from_function(input_fn, None))

    def _experimental_distribute_dataset(self, dataset, options):
        from weft._src.distribute.input import DistributedDataset

        if options is not None and options.experimental_replication_mode == InputReplicationMode.PER_REPLICA:
            raise NotImplementedError(
                "InputReplicationMode.PER_REPLICA is only supported in `experimental_distribute_datasets_from_function`."
            )
        return DistributedDataset(self._container_strategy(), [(self._device,)], dataset=dataset)

    def _distribute_datasets_from_function(self, dataset_fn, options):
        from weft._src.distribute.input import DistributedDatasetsFromFunction

        if options is not None and options.experimental_replication_mode == InputReplicationMode.PER_REPLICA:
            raise NotImplementedError(
                "InputReplicationMode.PER_REPLICA is only supported in `experimental_distribute_datasets_from_function` "
                "of tf.distribute.MirroredStrategy"
            )
        return DistributedDatasetsFromFunction(
            self._container_strategy(), [(self._device,)], [InputContext()], dataset_fn
        )


class OneDeviceStrategy(Strategy):
    """Variables and computation on one device."""

    def __init__(self, device):
        super().__init__(OneDeviceExtended(self, device))


class OneDeviceStrategyV1(StrategyV1):
    """Version 1's."""

    def __init__(self, device):
        super().__init__(OneDeviceExtended(self, device))
