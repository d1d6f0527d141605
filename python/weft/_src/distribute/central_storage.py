"""tf.distribute.experimental.CentralStorageStrategy: replicas on several devices, variables on one."""

from weft import _weft
from weft._src.distribute import context
from weft._src.distribute.extended import check_colocation
from weft._src.distribute.mirrored import MirroredExtended
from weft._src.distribute.options import ReduceOp
from weft._src.distribute.strategy import Strategy, StrategyV1
from weft._src.distribute.values import DistributedValues, PerReplica, full_device
from weft._src.framework import nest
from weft._src.framework.device import device
from weft._src.trackable.variable import ResourceVariable, Variable, VariableAggregation

_UNAGGREGATED = (
    "You must specify an aggregation method to update a AggregatingVariable in Replica Context. You can do so by passing "
    "an explicit value for argument `aggregation` to tf.Variable(..).e.g. `tf.Variable(..., "
    "aggregation=tf.VariableAggregation.SUM)``tf.VariableAggregation` lists the possible aggregation methods.This is "
    "required because AggregatingVariable should always be kept in sync. When updating them or assigning to them in a "
    "replica context, we automatically try to aggregate the values before updating the variable. For this aggregation, "
    "we need to know the aggregation method. Another alternative is to not try to update such AggregatingVariable in "
    "replica context, but in cross replica context. You can enter cross replica context by calling "
    "`tf.distribute.get_replica_context().merge_call(merge_fn, ..)`.Inside `merge_fn`, you can then update the "
    "AggregatingVariable using `tf.distribute.StrategyExtended.update()`."
)


class AggregatingVariable(ResourceVariable):
    """The one variable of all replicas: what they write is put together first."""

    __slots__ = ("_v",)

    @classmethod
    def around(cls, strategy, v):
        made = cls.__new__(cls)
        made._adopt(v)
        made.__dict__ = v.__dict__  # the same variable, written in another way
        made._v, made._distribute_strategy = v, strategy
        return made

    def get(self):
        return self._v

    @property
    def distribute_strategy(self):
        return self._distribute_strategy

    def _write(self, op, value, read_value):
        return self._together(lambda v, x: Variable._write(v, op, x, read_value), value)

    def _scatter(self, op, delta, name):
        return self._together(lambda v, x: Variable._scatter(v, op, x, name), delta)

    def _together(self, write, value):
        strategy = self._distribute_strategy
        with context.scope_of(strategy):
            if context.in_cross_replica_context():
                if context.update_replica_id() is not None:
                    return write(self._v, value)
                return strategy.extended.update(self, write, args=(value,))
            if self._aggregation == VariableAggregation.NONE:
                raise ValueError(_UNAGGREGATED)

            def merge(strategy, value):
                if self._aggregation == VariableAggregation.ONLY_FIRST_REPLICA:
                    first = strategy.experimental_local_results(value)[0]
                    whole = strategy.extended.broadcast_to(first, destinations=self)
                else:
                    reduction = ReduceOp.from_variable_aggregation(self._aggregation)
                    whole = strategy.extended.reduce_to(reduction, value, self)
                return strategy.extended.update(self, write, args=(whole,))

            return context.get_replica_context().merge_call(merge, args=(value,))

    def __deepcopy__(self, memo):
        import copy

        memo[id(self)] = made = self.around(self._distribute_strategy, copy.deepcopy(self._v, memo))
        return made


class CentralStorageExtended(MirroredExtended):
    """Replicas here, variables there."""

    def __init__(self, container_strategy, compute_devices=None, parameter_device=None):
        from weft._src.framework.config import list_logical_devices

        gpus = [d.name for d in list_logical_devices("GPU")]
        super().__init__(container_strategy, compute_devices or gpus or ["/device:CPU:0"])
        # As TensorFlow: the variables are on the GPU where there is one, else on the host.
        self._variable_device = parameter_device or (gpus[0] if len(gpus) == 1 else full_device("/device:CPU:0"))

    @property
    def worker_devices(self):
        return list(self._devices)

    @property
    def parameter_devices(self):
        return (self._variable_device,)

    def non_slot_devices(self, var_list):
        return min(var_list, key=lambda v: v.name)

    def _create_variable(self, next_creator, **kwargs):
        colocate_with = kwargs.pop("colocate_with", None)
        where = self._variable_device if colocate_with is None else colocate_with.device
        with device(where):
            made = next_creator(**kwargs)
        made._distribute_strategy = self._container_strategy()
        if len(self._devices) == 1:
            return made
        return AggregatingVariable.around(self._container_strategy(), made)

    def _validate_colocate_with_variable(self, colocate_with_variable):
        check_colocation(colocate_with_variable, self)

    def value_container(self, value):
        return value

    def read_var(self, v):
        return v.read_value()

    def _update(self, var, fn, args, kwargs, group):
        if isinstance(var, AggregatingVariable):
            var = var.get()
        if not isinstance(var, _weft.VariableBase):
            raise ValueError(f"You can not update `var` {var!r}. It must be a Variable.")
        return self._update_non_slot(var, fn, (var, *_single(args)), _single(kwargs), group)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        where = colocate_with if isinstance(colocate_with, str) else colocate_with.device
        with device(where), context.updating(0):
            result = fn(*args, **kwargs)
        return result if group else nest.map_structure(self._local_results, result)


def _single(structure):
    """Of values that are the same for all replicas, the one."""

    def one(x):
        if not isinstance(x, DistributedValues):
            return x
        if isinstance(x, PerReplica) and len(x._values) != 1:
            raise ValueError(f"You cannot update variable with a `PerReplica` object {x!r} when in replica context")
        return x._values[0]

    return nest.map_structure(one, structure)


class CentralStorageStrategy(Strategy):
    """Variables on one device, computation on several."""

    def __init__(self, compute_devices=None, parameter_device=None):
        super().__init__(CentralStorageExtended(self, compute_devices, parameter_device))


class CentralStorageStrategyV1(StrategyV1):
    """Version 1's."""

    def __init__(self, compute_devices=None, parameter_device=None):
        super().__init__(CentralStorageExtended(self, compute_devices, parameter_device))
