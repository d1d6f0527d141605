"""tf.distribute.Strategy: what a program calls. What differs between strategies is in their `extended`."""

import copy
import weakref

from weft import _weft
from weft._src.distribute import context
from weft._src.distribute.options import InputReplicationMode, ReduceOp
from weft._src.distribute.options import reduce_op as _reduce_op


def converted(fn):
    """fn as autograph would have it where this is called."""
    from weft._src.autograph import control_status_ctx, tf_convert
    from weft._src.function.function import Function

    if isinstance(fn, Function):
        return fn
    return tf_convert(fn, control_status_ctx(), convert_by_default=False)


class StrategyBase:
    """Of both versions of the API."""

    # What Keras asks every strategy; a ParameterServerStrategy answers otherwise.
    _should_use_with_coordinator = False
    _cluster_coordinator = None

    def __init__(self, extended):
        self._extended = extended
        self._axis_reducers = {}

    @property
    def extended(self):
        """What libraries use of the strategy."""
        return self._extended

    def scope(self):
        """Makes this the current strategy and its variables distributed ones."""
        return self._extended._scope(self)

    def colocate_vars_with(self, colocate_with_variable):
        return self._extended.colocate_vars_with(colocate_with_variable)

    def make_dataset_iterator(self, dataset):
        return self._extended._make_dataset_iterator(dataset)

    def make_input_fn_iterator(self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        if replication_mode != InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode!r}")
        with self.scope():
            return self.extended._make_input_fn_iterator(input_fn, replication_mode=replication_mode)

    def experimental_run(self, fn, input_iterator=None):
        with self.scope():
            args = () if input_iterator is None else (input_iterator.get_next(),)
        return self.run(fn, args=args)

    def experimental_distribute_dataset(self, dataset, options=None):
        """A dataset whose batches are divided among the replicas."""
        return self._extended._experimental_distribute_dataset(dataset, options)

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """A dataset of what dataset_fn(InputContext) gives for each worker."""
        return self._extended._distribute_datasets_from_function(dataset_fn, options)

    def experimental_distribute_datasets_from_function(self, dataset_fn, options=None):
        return self.distribute_datasets_from_function(dataset_fn, options)

    def run(self, fn, args=(), kwargs=None, options=None):
        """Calls fn in each replica, with its own part of distributed arguments."""
        if not isinstance(args, (list, tuple)):
            raise ValueError(f"positional args must be a list or tuple, got {type(args)}")
        with self.scope():
            return self._extended.call_for_each_replica(converted(fn), args=args, kwargs=kwargs)

    def reduce(self, reduce_op, value, axis):
        """The values of all replicas as one; with an axis, along it within each replica, too."""
        context.require_cross_replica_or_default(self)
        reduce_op = _reduce_op(reduce_op)
        if axis is None:
            return self._extended._reduce(reduce_op, value)
        if reduce_op not in (ReduceOp.SUM, ReduceOp.MEAN):
            raise TypeError(f"Expected `reduce_op` to be a `tf.distribute.ReduceOp`, not: {reduce_op!r}")
        parts = self.run(self._axis_reducer(reduce_op, axis), args=(value,))
        if reduce_op == ReduceOp.SUM:
            return self._extended._reduce(ReduceOp.SUM, parts)
        from weft._src.ops import math_ops

        total, count = (self._extended._reduce(ReduceOp.SUM, part) for part in parts)
        return math_ops.truediv(total, math_ops.cast(count, total.dtype))

    def _axis_reducer(self, reduce_op, axis):
        """What each replica does: the sum along the axis, and for means how many numbers it is of."""
        from weft._src.function.function import function

        if reduce_op == ReduceOp.MEAN and not isinstance(axis, (int, tuple, list)):
            raise TypeError(f"Expected `axis` to be an integer, tuple or list not: {axis!r}")
        make = _sum_along if reduce_op == ReduceOp.SUM else _sum_and_count_along
        if _weft.in_graph():
            return make(axis)
        key = reduce_op, tuple(axis) if isinstance(axis, list) else axis
        if key not in self._axis_reducers:
            self._axis_reducers[key] = function(make(axis))
        return self._axis_reducers[key]

    def unwrap(self, value):
        return self._extended._local_results(value)

    def experimental_local_results(self, value):
        """A tuple of the values, by replica."""
        return self._extended._local_results(value)

    def group(self, value, name=None):
        return self._extended._group(value, name)

    @property
    def num_replicas_in_sync(self):
        """How many replicas put their gradients together."""
        return self._extended._num_replicas_in_sync

    def configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        return self._extended._configure(session_config, cluster_spec, task_type, task_id)

    def update_config_proto(self, config_proto):
        return self._extended._update_config_proto(config_proto)

    def __deepcopy__(self, memo):
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for name, value in self.__dict__.items():
            setattr(made, name, copy.deepcopy(value, memo))
        made._extended._container_strategy_weakref = weakref.ref(made)
        return made

    def __copy__(self):
        raise RuntimeError("Must only deepcopy DistributionStrategy.")

    @property
    def cluster_resolver(self):
        """Where the cluster of the strategy is described; None without one."""
        return getattr(self.extended, "_cluster_resolver", None)


def _sum_along(axis):
    from weft._src.ops import math_ops

    return lambda v: math_ops.reduce_sum(v, axis=axis)


def _sum_and_count_along(axis):
    from weft._src.framework import dtypes
    from weft._src.framework.convert import constant
    from weft._src.ops import array_ops, math_ops

    def size(v, one):
        rank = v.shape.rank
        if rank is not None and not -rank <= one < rank:
            raise ValueError(f"`axis` = {one!r} out of range for `value` with rank {rank}")
        if rank is not None and v.shape[one] is not None:
            return array_ops.identity(constant(v.shape[one], dtypes.int64))
        sizes = array_ops.shape(v, out_type=dtypes.int64)
        return array_ops.identity(sizes[one + array_ops.rank(v) if rank is None and one < 0 else one])

    def sum_and_count(v):
        total = math_ops.reduce_sum(v, axis=axis)
        if isinstance(axis, int):
            return total, size(v, axis)
        return total, math_ops.reduce_prod([size(v, one) for one in axis])

    return sum_and_count


class Strategy(StrategyBase):
    """A way to run the same computation on several devices."""

    def experimental_distribute_values_from_function(self, value_fn):
        """Values that value_fn(ValueContext) gives for each replica."""
        return self._extended._experimental_distribute_values_from_function(value_fn)

    def gather(self, value, axis):
        """The values of all replicas, one after the other along an axis."""
        from weft._src.framework.indexed_slices import IndexedSlices

        context.require_cross_replica_or_default(
            self,
            "tf.distribute.Strategy.gather method requires cross-replica context, use "
            "get_replica_context().all_gather() instead",
        )
        if isinstance(value, IndexedSlices):
            raise NotImplementedError("gather does not support IndexedSlices")
        gathered = self._extended._gather_to(value, self._extended._reduction_device(), axis)
        return self._extended._local_results(gathered)[0]


class StrategyV1(StrategyBase):
    """Version 1's face of a strategy."""

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        return self.extended.experimental_make_numpy_dataset(numpy_input, session=session)

    def reduce(self, reduce_op, value, axis=None):
        return super().reduce(reduce_op, value, axis)
