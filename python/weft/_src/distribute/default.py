"""The strategy of programs that have none: one replica, and nothing is distributed."""

import contextlib

from weft._src.distribute import context
from weft._src.distribute.extended import StrategyExtendedV1
from weft._src.distribute.options import InputContext, InputReplicationMode, ValueContext
from weft._src.distribute.replica_context import ReplicaContext
from weft._src.distribute.strategy import Strategy
from weft._src.framework import nest
from weft._src.trackable.variable import variable_creator_scope

_ONE = "Should only create a single instance of _DefaultDistributionStrategy"
_making = False


def make():
    """The one strategy of this kind, and its replica."""
    global _making
    _making = True
    try:
        strategy = _DefaultDistributionStrategy()
    finally:
        _making = False
    return strategy, _DefaultReplicaContext(strategy, replica_id_in_sync_group=0)


class _DefaultDistributionStrategy(Strategy):
    def __init__(self):
        if not _making:
            raise RuntimeError(_ONE)
        super().__init__(_DefaultDistributionExtended(self))

    def __deepcopy__(self, memo):
        raise RuntimeError(_ONE)


class _DefaultReplicaContext(ReplicaContext):
    @property
    def replica_id_in_sync_group(self):
        return 0


class _DefaultScope:
    """The scope of the default strategy changes nothing, and cannot stand in another's."""

    def __init__(self, strategy):
        def creator(next_creator, **kwargs):
            context.require_scope(strategy)
            return next_creator(**kwargs)

        self._strategy, self._creator, self._open = strategy, creator, []

    def __enter__(self):
        if context.has_strategy():
            raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")
        scope = contextlib.nullcontext() if self._open else variable_creator_scope(self._creator)
        scope.__enter__()
        self._open.append(scope)
        return self._strategy

    def __exit__(self, *error):
        self._open.pop().__exit__(None, None, None)


class _DefaultDistributionExtended(StrategyExtendedV1):
    def _scope(self, strategy):
        return _DefaultScope(strategy)

    def colocate_vars_with(self, colocate_with_variable):
        context.require_scope(self._container_strategy())
        return contextlib.nullcontext()

    def variable_created_in_scope(self, v):
        return getattr(v, "_distribute_strategy", None) is None

    def _experimental_distribute_dataset(self, dataset, options):
        return dataset

    def _distribute_datasets_from_function(self, dataset_fn, options):
        return dataset_fn(InputContext())

    def _experimental_distribute_values_from_function(self, value_fn):
        return value_fn(ValueContext())

    def _make_dataset_iterator(self, dataset):
        return iter(dataset)

    def _make_input_fn_iterator(self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        return iter(input_fn(InputContext()))

    def _broadcast_to(self, tensor, destinations):
        return tensor

    def _call_for_each_replica(self, fn, args, kwargs):
        with ReplicaContext(self._container_strategy(), replica_id_in_sync_group=0):
            return fn(*args, **kwargs)

    def _reduce_to(self, reduce_op, value, destinations, options):
        return value

    def _gather_to_implementation(self, value, destinations, axis, options):
        return value

    def _update(self, var, fn, args, kwargs, group):
        return self._update_non_slot(var, fn, (var, *args), kwargs, group)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        result = fn(*args, **kwargs)
        return result if group else nest.map_structure(self._local_results, result)

    def read_var(self, v):
        return v.read_value()

    def _local_results(self, value):
        return (value,)

    def value_container(self, value):
        return value

    _num_replicas_in_sync = 1
    experimental_between_graph = False
    experimental_should_init = should_checkpoint = should_save_summary = True

    @property
    def worker_devices(self):
        raise RuntimeError("worker_devices() method unsupported by default tf.distribute.Strategy.")

    @property
    def parameter_devices(self):
        raise RuntimeError("parameter_devices() method unsupported by default tf.distribute.Strategy.")

    def non_slot_devices(self, var_list):
        return min(var_list, key=lambda v: v.name)

    def _in_multi_worker_mode(self):
        return False
