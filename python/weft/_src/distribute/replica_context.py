"""tf.distribute.ReplicaContext: a replica's own view of the strategy."""

from weft import _weft
from weft._src.distribute import context
from weft._src.distribute.options import ReduceOp
from weft._src.distribute.options import reduce_op as _reduce_op
from weft._src.distribute.strategy import converted
from weft._src.framework import dtypes, nest
from weft._src.framework.indexed_slices import IndexedSlices
from weft._src.framework.tensor import Tensor


class ReplicaContextBase:
    """Of both versions of the API."""

    def __init__(self, strategy, replica_id_in_sync_group):
        if not (replica_id_in_sync_group is None or isinstance(replica_id_in_sync_group, (int, Tensor))):
            raise ValueError("replica_id_in_sync_group can only be an integer, a Tensor or None.")
        self._strategy = strategy
        self._replica_id_in_sync_group = replica_id_in_sync_group
        self._local_replica_id = strategy.extended._get_local_replica_id(replica_id_in_sync_group) if strategy else None
        self._entered = []

    def __enter__(self):
        scope = context.entered(self._strategy, self)
        scope.__enter__()
        self._entered.append(scope)

    def __exit__(self, *error):
        self._entered.pop().__exit__(None, None, None)

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """Calls merge_fn(strategy, ...) once for all replicas, when all of them have come here."""
        context.require_replica(self)
        return self._merge_call(converted(merge_fn), args, kwargs or {})

    def _merge_call(self, merge_fn, args, kwargs):
        with context.entered(self._strategy):
            return merge_fn(self._strategy, *args, **kwargs)

    @property
    def num_replicas_in_sync(self):
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self):
        """The number of this replica, as a tensor."""
        number = self._replica_id_in_sync_group
        if isinstance(number, Tensor):
            return number
        from weft._src.framework.convert import constant

        return constant(number, dtypes.int32, name="replica_id_in_sync_group")

    @property
    def _replica_id(self):
        return self._local_replica_id

    @property
    def strategy(self):
        return self._strategy

    @property
    def devices(self):
        """The device of this replica."""
        from weft._src.distribute.values import full_device

        context.require_replica(self)
        return (full_device(_weft.scoped_device()),)

    def all_reduce(self, reduce_op, value, options=None):
        """The values of all replicas as one, which all get; the gradient is reduced likewise."""
        from weft._src.gradients.custom import custom_gradient

        reduce_op = _reduce_op(reduce_op)
        flat = nest.flatten(value)

        def merge(strategy, *values):
            return strategy.extended.batch_reduce_to(reduce_op, [(v, _destination(v)) for v in values], options)

        if any(isinstance(v, IndexedSlices) for v in flat):
            return nest.pack_sequence_as(value, self.merge_call(merge, args=flat))

        @custom_gradient
        def reduced(*values):
            return self.merge_call(merge, args=values), lambda *dys: self.all_reduce(reduce_op, dys)

        return nest.pack_sequence_as(value, _listed(reduced(*flat)))


class ReplicaContext(ReplicaContextBase):
    """Where the code of one replica runs."""

    def all_gather(self, value, axis, options=None):
        """The values of all replicas along an axis, which all get."""
        from weft._src.gradients.custom import custom_gradient

        flat = nest.flatten(value)
        if any(isinstance(v, IndexedSlices) for v in flat):
            raise NotImplementedError("all_gather does not support IndexedSlices")

        def merge(strategy, *values):
            return strategy.extended._batch_gather_to([(v, _destination(v)) for v in values], axis, options)

        @custom_gradient
        def gathered(*values):
            return self.merge_call(merge, args=values), lambda *dys: self._own_parts(values, dys, axis)

        return nest.pack_sequence_as(value, _listed(gathered(*flat)))

    def _own_parts(self, values, gradients, axis):
        """Of the gradients of gathered values, what belongs to this replica's."""
        from weft._src.ops import array_ops, math_ops

        parts = []
        for value, dy in zip(values, self.all_reduce(ReduceOp.SUM, gradients)):
            size = array_ops.shape(value)[axis]
            sizes = self.all_gather(array_ops.reshape(size, [1]), axis=0)
            begin = math_ops.reduce_sum(sizes[: self.replica_id_in_sync_group])
            parts.append(array_ops.gather(dy, axis=axis, indices=array_ops.range(begin, begin + size)))
        return parts

    def _update(self, var, fn, args=(), kwargs=None, group=True):
        return self._strategy.extended._replica_ctx_update(var, fn, args=args, kwargs=kwargs, group=group)


class ReplicaContextV1(ReplicaContextBase):
    """Version 1's, without all_gather."""


def _destination(value):
    return value.device if isinstance(value, Tensor) else value


def _listed(values):
    return list(values) if isinstance(values, (list, tuple)) else [values]
