"""tf.distribute.StrategyExtended: what each strategy does in its own way, and libraries call."""

import copy
import weakref

from weft import _weft
from weft._src.distribute import context
from weft._src.distribute.options import CommunicationOptions, ReduceOp
from weft._src.distribute.options import reduce_op as _reduce_op
from weft._src.distribute.strategy import converted
from weft._src.distribute.values import DistributedValuesInterface
from weft._src.framework import nest
from weft._src.trackable.variable import variable_creator_scope

_COLOCATE = "`colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope(), not"


def check_colocation(v, extended, kind=object):
    """v must be a variable of this strategy."""
    strategy = getattr(v, "_distribute_strategy", None)
    if strategy is None or not isinstance(v, kind):
        raise ValueError(f"{_COLOCATE}: {v!r}")
    if strategy.extended is not extended:
        raise ValueError(f"{_COLOCATE} {v} created in scope: {strategy}")


def _of_descendants(*args, **kwargs):
    raise NotImplementedError("must be implemented in descendants")


class StrategyExtendedV2:
    """The part of a strategy for libraries."""

    _global_batch_size = True  # what Keras asks: a batch is that of all replicas

    def __init__(self, container_strategy):
        self._container_strategy_weakref = weakref.ref(container_strategy)
        self._default_device = None
        self._require_static_shapes = False

    def _container_strategy(self):
        strategy = self._container_strategy_weakref()
        assert strategy is not None
        return strategy

    # ---- variables

    def _scope(self, strategy):
        def creator(next_creator, **kwargs):
            context.require_scope(strategy)
            kwargs["distribute_strategy"] = strategy
            return self._create_variable(next_creator, **kwargs)

        return context.Scope(strategy, creator, self._default_device)

    def variable_created_in_scope(self, v):
        """Whether v was made in the scope of this strategy."""
        return getattr(v, "_distribute_strategy", None) == self._container_strategy_weakref()

    def colocate_vars_with(self, colocate_with_variable):
        """Variables of the block stand where this one does."""

        def creator(next_creator, **kwargs):
            context.require_scope(self._container_strategy())
            kwargs["colocate_with"] = colocate_with_variable
            return next_creator(**kwargs)

        context.require_scope(self._container_strategy())
        self._validate_colocate_with_variable(colocate_with_variable)
        return variable_creator_scope(creator)

    def _validate_colocate_with_variable(self, colocate_with_variable):
        pass

    # ---- values of replicas

    def _reduction_device(self):
        return _weft.scoped_device() or self._default_device or "/device:CPU:0"

    def _reduce(self, reduce_op, value):
        return self._local_results(self.reduce_to(reduce_op, value, self._reduction_device()))[0]

    def reduce_to(self, reduce_op, value, destinations, options=None):
        """The values of all replicas as one, on the devices of `destinations`."""
        context.require_cross_replica_or_default(self._container_strategy())
        assert not isinstance(destinations, (list, tuple))
        reduce_op = _reduce_op(reduce_op)
        assert isinstance(reduce_op, ReduceOp)
        return self._reduce_to(reduce_op, value, destinations, options or CommunicationOptions())

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        """reduce_to for each pair of a value and its destinations."""
        context.require_cross_replica_or_default(self._container_strategy())
        return self._batch_reduce_to(_reduce_op(reduce_op), value_destination_pairs, options or CommunicationOptions())

    def _batch_reduce_to(self, reduce_op, value_destination_pairs, options):
        return [self.reduce_to(reduce_op, v, destinations=d, options=options) for v, d in value_destination_pairs]

    def _replica_ctx_all_reduce(self, reduce_op, value, options=None):
        replica = context.get_replica_context()
        assert replica, "`StrategyExtended._replica_ctx_all_reduce` must be called in a replica context"

        def merge(strategy, flat):
            return self.batch_reduce_to(reduce_op, [(v, v) for v in flat], options)

        return nest.pack_sequence_as(value, replica.merge_call(merge, args=(nest.flatten(value),)))

    def _gather_to(self, value, destinations, axis, options=None):
        context.require_cross_replica_or_default(self._container_strategy())
        assert not isinstance(destinations, (list, tuple))
        return self._gather_to_implementation(value, destinations, axis, options or CommunicationOptions())

    def _batch_gather_to(self, value_destination_pairs, axis, options=None):
        return [self._gather_to(v, destinations=d, axis=axis, options=options) for v, d in value_destination_pairs]

    def _local_results(self, val):
        if isinstance(val, DistributedValuesInterface):
            return val._values
        if not nest.is_nested(val):
            return (val,)

        def part(i):
            return nest.map_structure(lambda x: x._values[i] if isinstance(x, DistributedValuesInterface) else x, val)

        return tuple(part(i) for i in range(len(self.worker_devices)))

    def _group(self, value, name=None):
        from weft._src.function.control_flow import group

        flat = nest.flatten(self._local_results(value))
        if len(flat) != 1 or name is not None:
            return group(*flat, name=name)
        return getattr(flat[0], "op", flat[0]) if _weft.in_graph() else flat[0]

    # ---- updates

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Calls fn on each copy of a variable, with the copy's part of distributed arguments."""
        replica = context.get_replica_context()
        if replica is None or replica is context.default_mode().replica:
            fn = converted(fn)
            with self._container_strategy().scope():
                return self._update(var, fn, args, kwargs or {}, group)
        return self._replica_ctx_update(var, fn, args=args, kwargs=kwargs, group=group)

    def _replica_ctx_update(self, var, fn, args=(), kwargs=None, group=True):
        replica = context.get_replica_context()
        if not replica:
            raise ValueError("`StrategyExtended._replica_ctx_update` must be called in a replica context.")

        def merge(strategy, *merged_args, **merged_kwargs):
            return self.update(var, fn, merged_args, merged_kwargs, group=group)

        return replica.merge_call(merge, args=args, kwargs=kwargs)

    # ---- facts

    @property
    def experimental_require_static_shapes(self):
        """Whether shapes must be known; not on these devices."""
        return self._require_static_shapes

    def _configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        pass

    def _update_config_proto(self, config_proto):
        return copy.deepcopy(config_proto)

    def _use_merge_call(self):
        return True

    def _get_local_replica_id(self, replica_id_in_sync_group):
        return replica_id_in_sync_group

    def _get_replica_id_in_sync_group(self, replica_id):
        return replica_id

    _create_variable = _make_dataset_iterator = _make_input_fn_iterator = _of_descendants
    _experimental_distribute_dataset = _distribute_datasets_from_function = _of_descendants
    _experimental_distribute_values_from_function = _in_multi_worker_mode = _of_descendants
    _reduce_to = _gather_to_implementation = _update = _of_descendants
    _num_replicas_in_sync = property(_of_descendants)

    def value_container(self, value):
        """The distributed variable that a copy belongs to."""
        _of_descendants()

    @property
    def worker_devices(self):
        """The devices that compute."""
        _of_descendants()

    @property
    def parameter_devices(self):
        """The devices that have variables."""
        _of_descendants()


class StrategyExtendedV1(StrategyExtendedV2):
    """With what version 1 and Keras call beside it."""

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        context.require_cross_replica_or_default(self._container_strategy())
        return self._experimental_make_numpy_dataset(numpy_input, session=session)

    def _experimental_make_numpy_dataset(self, numpy_input, session):
        from weft._src.data.dataset import Dataset

        return Dataset.from_tensor_slices(numpy_input)

    def broadcast_to(self, tensor, destinations):
        """The value on all devices of `destinations`."""
        assert destinations is not None and not isinstance(destinations, (list, tuple))
        context.require_cross_replica_or_default(self._container_strategy())
        return self._broadcast_to(tensor, destinations)

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        context.require_cross_replica_or_default(self._container_strategy())
        with self._container_strategy().scope():
            return self._call_for_each_replica(fn, args, kwargs or {})

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None, group=True):
        """Calls fn once for each device of `colocate_with`."""
        context.require_cross_replica_or_default(self._container_strategy())
        fn = converted(fn)
        with self._container_strategy().scope():
            return self._update_non_slot(colocate_with, fn, args, kwargs or {}, group)

    def read_var(self, v):
        """The value of a variable, as saving needs it."""
        _of_descendants()

    def non_slot_devices(self, var_list):
        """Where values that belong to all of these variables stand."""
        _of_descendants()

    _broadcast_to = _call_for_each_replica = _update_non_slot = _of_descendants
    experimental_between_graph = experimental_should_init = property(_of_descendants)
    should_checkpoint = should_save_summary = property(_of_descendants)
