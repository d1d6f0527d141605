"""Variables with a copy on each device. The copies are variables of the engine, each its own; what stands for all of them
is here, since writing together (merge_call) runs Python, in traces too."""

import contextlib
import copy
import weakref

from weft import _weft
from weft._src.distribute import context
from weft._src.distribute.options import ReduceOp
from weft._src.distribute.values import DistributedValues, MirroredInterface, PerReplica
from weft._src.framework.save_context import one_copy
from weft._src.framework.tensor import Tensor
from weft._src.function.trace_type import Type
from weft._src.trackable.base import VARIABLE_VALUE_KEY
from weft._src.trackable.variable import Variable, VariableAggregation, VariableSynchronization

_NONE, _SUM, _MEAN = VariableAggregation.NONE, VariableAggregation.SUM, VariableAggregation.MEAN
_FIRST = VariableAggregation.ONLY_FIRST_REPLICA


class DistributedVariableType(Type):
    """As an argument of a tf.function: the variable itself, not tensors."""

    __slots__ = ("variable",)

    def __init__(self, variable):
        self.variable = variable

    def placeholder(self, take):
        return self.variable

    def cast(self, value):
        return value

    def __eq__(self, other):
        return isinstance(other, DistributedVariableType) and self.variable is other.variable

    def __hash__(self):
        return id(self.variable)

    def __repr__(self):
        return f"DistributedVariable(shape={self.variable.shape}, dtype={self.variable.dtype.name})"


def _same(name):
    return property(lambda self: getattr(self._values[0], name))


class DistributedVariable(DistributedValues, Variable):
    """Stands for its copies: for the replica's own in a replica, for all of them outside."""

    is_distributed_variable = True

    def __init__(self, strategy, values, aggregation):
        DistributedValues.__init__(self, values)
        if aggregation == _MEAN and not values[0].dtype.is_floating:
            raise ValueError(
                "creating distributed tf.Variable with aggregation=MEAN and a non-floating dtype is not supported, "
                "please use a different aggregation or dtype"
            )
        self._distribute_strategy, self._aggregation = strategy, aggregation
        for v in values:
            v._distributed_container = weakref.ref(self)
            v._distribute_strategy = strategy

    # ---- facts, the same of all copies

    name = _same("name")
    dtype = _dtype = _same("dtype")
    shape = _shape = _same("shape")
    _shared_name = _same("_shared_name")
    _unique_id = _same("_unique_id")
    constraint = _same("constraint")
    synchronization = _synchronization = _same("synchronization")

    @property
    def trainable(self):
        return self._values[0].trainable

    @property
    def _trainable(self):
        return self._values[0].trainable

    @_trainable.setter
    def _trainable(self, on):
        for v in self._values:
            v._trainable = on

    def get_shape(self):
        return self.shape

    def set_shape(self, shape):
        for v in self._values:
            v.set_shape(shape)

    @property
    def values(self):
        """The copies, by replica."""
        return self._values

    @property
    def distribute_strategy(self):
        return self._distribute_strategy

    @property
    def device(self):
        return self._here().device

    @property
    def handle(self):
        replica = 0 if one_copy() else context.current_replica_id()
        if replica is None:
            raise ValueError(
                "DistributedVariable.handle is not available outside the replica context or a "
                "`tf.distribute.Strategy.update()` call."
            )
        return self._values[replica].handle

    def _eager_handle(self):
        return self._values[0]._eager_handle()

    def _all_handles(self):
        return [v._eager_handle() for v in self._values]

    def is_initialized(self, name=None):
        from weft._src.ops.math_ops import logical_and

        result = self._values[0].is_initialized()
        for v in self._values[1:]:
            result = logical_and(result, v.is_initialized())
        return result

    def __tf_tracing_type__(self, context):
        return DistributedVariableType(self)

    # ---- reading

    def _here(self):
        """The copy of the replica, of the device, or the first."""
        if one_copy():
            return self._values[0]
        replica = context.current_replica_id()
        return self._on_device_or_first() if replica is None else self._values[replica]

    def _get(self):
        return self._values[0] if one_copy() else super()._get()

    def value(self):
        return self._here().value()

    _read = value

    def read_value(self):
        from weft._src.ops.array_ops import identity

        if one_copy():
            return self._values[0].read_value()
        with context.scope_of(self._distribute_strategy):
            return identity(self._get())

    def _dense_var_to_tensor(self, dtype=None, name=None, as_ref=False):
        return _weft.convert(self._get(), dtype)

    def numpy(self):
        if _weft.in_graph():
            raise NotImplementedError("DistributedVariable.numpy() is only available when eager execution is enabled.")
        return self.read_value().numpy()

    def _accessed(self):
        self._here()._accessed()

    def sparse_read(self, indices, name=None):
        return self._here().sparse_read(indices, name)

    def gather_nd(self, indices, name=None):
        return self._here().gather_nd(indices, name)

    # ---- writing

    def assign(self, value, use_locking=False, name=None, read_value=True):
        return self._write("assign", value, read_value)

    def assign_add(self, value, use_locking=False, name=None, read_value=True):
        return self._write("assign_add", value, read_value)

    def assign_sub(self, value, use_locking=False, name=None, read_value=True):
        return self._write("assign_sub", value, read_value)

    def _write(self, method, value, read_value):
        return self._update(lambda v, x: getattr(v, method)(x, read_value=read_value), value)

    def _scatter(self, op, delta, name):
        return self._update(lambda v, x: v._scatter(op, x, name), delta)

    def _scatter_nd(self, op, indices, updates, name):
        return self._here()._scatter_nd(op, indices, updates, name)

    def _strided_slice_assign(self, **kwargs):
        return self._here()._strided_slice_assign(**kwargs)

    def _update(self, write, value):
        """write(copy, value) for the copies that the running code means."""
        if one_copy():
            return write(self._values[0], value)
        with context.scope_of(self._distribute_strategy):
            if context.in_cross_replica_context():
                replica = context.update_replica_id()
                if replica is not None:
                    return write(self._values[replica], value)
                return self._update_all(write, value)
            return self._update_replica(write, value)

    def _update_all(self, write, value):
        return self._distribute_strategy.extended.update(self, write, args=(value,), group=True)

    # ---- copies, saving, printing

    def __deepcopy__(self, memo):
        from weft._src.framework.device import device

        values = []
        with context.scope_of(self._distribute_strategy):
            for v in self._values:
                with device(v.device):
                    values.append(copy.deepcopy(v, memo))
        memo[id(self)] = made = type(self)(self._distribute_strategy, values, self._aggregation)
        return made

    def __reduce__(self):
        raise NotImplementedError("pickling of distributed variables")

    def _read_for_saving(self):
        _weft.pause_tapes()
        try:
            with context.scope_of(self._distribute_strategy):
                return self._distribute_strategy.extended.read_var(self)
        finally:
            _weft.resume_tapes()

    def _restore_from_tensors(self, restored_tensors):
        value = self._restored(restored_tensors[VARIABLE_VALUE_KEY])
        for v in self._values:
            v._restore_from_tensors({VARIABLE_VALUE_KEY: value})

    def _restored(self, value):
        return value

    __repr__ = DistributedValues.__repr__
    __str__ = DistributedValues.__str__


class MirroredVariable(DistributedVariable, MirroredInterface):
    """Alike everywhere: what replicas write is put together first, and written to every copy."""

    def _is_mirrored(self):
        return True

    def _get_cross_replica(self):
        from weft._src.ops.array_ops import identity

        return identity(self._on_device_or_first())

    def _update_replica(self, write, value):
        if self._aggregation == _NONE:
            return write(self._here(), value)

        def merge(strategy, value):
            if self._aggregation == _MEAN and not self.dtype.is_floating and isinstance(value, PerReplica):
                raise ValueError(
                    "Cannot update non-float variables with tf.VariableAggregation.MEAN aggregation in replica "
                    "context. Either change the variable dtype to float or update it in cross-replica context."
                )
            if self._aggregation == _FIRST:
                first = strategy.experimental_local_results(value)[0]
                whole = strategy.extended.broadcast_to(first, destinations=self)
            else:
                reduction = ReduceOp.from_variable_aggregation(self._aggregation)
                whole = strategy.extended.reduce_to(reduction, value, self)
            return self._update_all(write, whole)

        return context.get_replica_context().merge_call(merge, args=(value,))

    def _only_plain(self, method):
        if self._aggregation not in (_FIRST, _NONE):
            raise NotImplementedError(
                f"{method} is only supported for mirrored variable (variable created within certain "
                "`tf.distribute.Strategy` scope) with NONE or `ONLY_FIRST_REPLICA` aggregation, got: "
                f"{self._aggregation}."
            )

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        self._only_plain("scatter_min")
        return super().scatter_min(sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        self._only_plain("scatter_max")
        return super().scatter_max(sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        self._only_plain("scatter_update")
        return super().scatter_update(sparse_delta, use_locking, name)


class SyncOnReadVariable(DistributedVariable):
    """Each replica's own, put together where it is read outside of replicas."""

    def _is_mirrored(self):
        return False

    def _get(self):
        if one_copy():
            return self._values[0]
        with context.scope_of(self._distribute_strategy):
            return super()._get()

    def _get_cross_replica(self):
        if self._aggregation == _FIRST:
            return self._values[0]
        reduction = ReduceOp.from_variable_aggregation(self._aggregation)
        with context.scope_of(self._distribute_strategy):
            return self._distribute_strategy.reduce(reduction, self, axis=None)

    def _for_all(self):
        return context.in_cross_replica_context() and context.update_replica_id() is None

    def value(self):
        if one_copy():
            return self._values[0].value()
        with context.scope_of(self._distribute_strategy):
            if self._for_all():
                found = self._get_cross_replica()
                return found if isinstance(found, Tensor) else found.value()
            replica = context.get_replica_context()
            if replica is not None and context.in_variable_sync_on_read_context() and self._aggregation != _FIRST:
                reduction = ReduceOp.from_variable_aggregation(self._aggregation)
                return replica.strategy.extended._replica_ctx_all_reduce(reduction, self._here().value())
            return self._here().value()

    _read = value

    def _update_replica(self, write, value):
        return write(self._here(), value)

    def _write(self, method, value, read_value):
        if one_copy():
            return super()._write(method, value, read_value)
        with context.scope_of(self._distribute_strategy):
            if not self._for_all():
                return super()._write(method, value, read_value)
            if self._aggregation == _SUM:
                if method != "assign":
                    raise ValueError(
                        f"SyncOnReadVariable does not support `{method}` in cross-replica context when aggregation "
                        "is set to `tf.VariableAggregation.SUM`."
                    )
                value = self._restored(value)
            return self._write_each(method, value, read_value)

    def _write_each(self, method, value, read_value):
        from weft._src.framework.device import device
        from weft._src.framework.graph import control_dependencies
        from weft._src.function.control_flow import group

        done = []
        for v in self._values:
            with device(v.device):
                done.append(getattr(v, method)(value))
        written = group(*done)
        if not read_value:
            return written
        with control_dependencies([] if written is None else [written]):
            return self.read_value()

    def _restored(self, value):
        """Of a value of the whole, what each copy has of it."""
        if self._aggregation != _SUM:
            return value
        from weft._src.ops.math_ops import cast

        return cast(value / self._distribute_strategy.num_replicas_in_sync, self.dtype)

    def _serialize_to_tensors(self):
        strategy = self._distribute_strategy
        if self._aggregation == _FIRST or not strategy.extended._in_multi_worker_mode():
            return super()._serialize_to_tensors()
        # TensorFlow's workers put the variable together three times when they save, once for each attribute that they ask it for.
        # All workers must take part in that.
        for _ in range(2):
            self._read_for_saving()
        return {VARIABLE_VALUE_KEY: self._read_for_saving}

    def _scatter(self, op, delta, name):
        method = op.__name__.removeprefix("resource_")
        raise NotImplementedError(f"Variables with `synchronization=ON_READ` doesn't support `{method}`")


def create(strategy, devices, next_creator, kwargs, shared=None):
    """A distributed variable, with a copy on each device; the copies start with the value of the first, which
    shared(value, device, dtype), where it is given, makes the same in all processes."""
    name = kwargs.get("name")
    mode = kwargs.get("synchronization", VariableSynchronization.AUTO)
    if mode == VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with tf.distribute strategy. Please change the "
            f"`synchronization` for variable: {name}"
        )
    if mode not in list(VariableSynchronization):
        raise ValueError(f"Invalid variable synchronization mode: {mode} for variable: {name}")
    if mode == VariableSynchronization.AUTO:
        mode = VariableSynchronization.ON_WRITE
    aggregation = kwargs.get("aggregation", _NONE)
    if aggregation not in list(VariableAggregation):
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}")
    kwargs["synchronization"] = mode
    kwargs.pop("caching_device", None)
    position = _checkpoint_position(kwargs)
    if shared is not None:
        kwargs["initial_value"] = shared(kwargs["initial_value"], devices[0], kwargs.get("dtype"))
    copies = []
    _weft.pause_tapes()
    try:
        for i, where in enumerate(devices):
            with _at(where, i):
                if i > 0:
                    first = copies[0]
                    kwargs["initial_value"] = lambda: first.value()
                    kwargs["name"] = f"{first.name.split(':')[0]}/replica_{i}/"
                copies.append(next_creator(**kwargs))
    finally:
        _weft.resume_tapes()
    kind = MirroredVariable if mode == VariableSynchronization.ON_WRITE else SyncOnReadVariable
    made = type.__call__(kind, strategy, copies, _NONE if aggregation == _NONE else aggregation)
    if position is not None:
        made._maybe_initialize_trackable()
        made._update_uid = position.restore_uid
    return made


def update_here(strategy, variable, write):
    """write(copy) for what the running code means of a variable that replicas change each for itself: tf.random.Generator."""
    if one_copy():
        return write(variable)
    with context.scope_of(strategy):
        # One variable for all replicas is written in merge_call alone.
        if context.in_cross_replica_context() or "CentralStorage" in type(strategy).__name__:
            return strategy.extended.update(variable, write)
    return write(variable)


@contextlib.contextmanager
def _at(where, index):
    """On a device; the names of later copies are whole."""
    from weft._src.framework.device import device

    scope = _weft.name_scope()
    with device(where):
        if index > 0:
            _weft.set_name_scope("")
        try:
            yield
        finally:
            _weft.set_name_scope(scope)


def _checkpoint_position(kwargs):
    """Where the initial value comes from, if from a checkpoint: the distributed variable is what is restored."""
    import functools

    from weft._src.trackable.base import CheckpointInitialValue, CheckpointInitialValueCallable

    value = kwargs["initial_value"]
    inner = value.func if isinstance(value, functools.partial) else value
    if isinstance(value, CheckpointInitialValue):
        kwargs["initial_value"] = value.wrapped_value
    elif not isinstance(inner, CheckpointInitialValueCallable):
        return None
    return inner.checkpoint_position
