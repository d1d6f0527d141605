"""tf.Variable: a value that programs change. The state is the engine's (VariableBase); creators may take part when one
is made."""

import abc
import functools
import itertools
import sys
import threading

from weft import _weft
from weft._src.framework.contexts import contextmanager
from weft._src.raw import raw
from weft._src.framework import dtypes, errors
from weft._src.framework.graph import name_scope
from weft._src.framework.tensor import Reference, SymbolicTensor, Tensor
from weft._src.framework.tensor_shape import as_shape
from weft._src.trackable.base import (
    VARIABLE_VALUE_KEY,
    CheckpointInitialValue,
    CheckpointInitialValueCallable,
    Trackable,
)
from weft._src.trackable.variable_modes import VariableAggregation, VariableAggregationV2, VariableSynchronization
from weft._src.trackable.wrapping import hand_over


_AGGREGATIONS = (VariableAggregation, VariableAggregationV2)
_local = threading.local()
_numbers = itertools.count()
_NO_CREATORS = ()
_ASSIGN, _ADD, _SUBTRACT = map(_weft.op_of_role, ("assign_variable", "add_to_variable", "subtract_from_variable"))


def _creators():
    return getattr(_local, "creators", _NO_CREATORS)


@contextmanager
def variable_creator_scope(variable_creator):
    """Variables of the block are made through variable_creator(next_creator, **kwargs)."""
    before = _creators()
    _local.creators = before + (variable_creator,)
    try:
        yield
    finally:
        if _local.creators != before + (variable_creator,):
            raise RuntimeError("Exiting variable_creator_scope without proper nesting.")
        _local.creators = before


def _in_plain_graph():
    """Whether variables become nodes of a graph of version 1."""
    if not _weft.in_graph():
        return False
    graph = _weft.current_graph()
    while graph is not None:
        if not graph.building_function:
            return True
        graph = graph._native.outer
    return False


def default_variable_creator(next_creator=None, **kwargs):
    """What a creator gets to in the end."""
    if _in_plain_graph():
        from weft._src.trackable.graph_variable import GraphVariable

        return type.__call__(GraphVariable, **kwargs)
    return type.__call__(ResourceVariable, **kwargs)


class VariableMetaclass(abc.ABCMeta):
    """tf.Variable(...) asks the creators; subclasses are made as they are. Libraries derive from variables and abstract classes at once."""

    __instancecheck__ = type.__instancecheck__

    def __call__(cls, *args, **kwargs):
        if cls is not Variable:
            return type.__call__(cls, *args, **kwargs)
        if not _creators() and not _weft.in_graph():
            return type.__call__(ResourceVariable, *args, **kwargs)
        return _through_creators(*args, **kwargs)


def _through_creators(
    initial_value=None,
    trainable=None,
    validate_shape=True,
    caching_device=None,
    name=None,
    variable_def=None,
    dtype=None,
    import_scope=None,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
    shape=None,
    experimental_enable_variable_lifting=None,
    **kwargs,
):
    def bound(creator, following):
        return lambda **kw: creator(following, **kw)

    make = default_variable_creator
    for creator in _creators():
        make = bound(creator, make)
    return make(
        initial_value=initial_value,
        trainable=trainable,
        validate_shape=validate_shape,
        caching_device=caching_device,
        name=name,
        variable_def=variable_def,
        dtype=dtype,
        import_scope=import_scope,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
        shape=shape,
        experimental_enable_variable_lifting=experimental_enable_variable_lifting,
        **kwargs,
    )


def _mode(value, kinds, default, what, name):
    if value is None:
        return default
    if not isinstance(value, kinds):
        raise ValueError(f"Invalid variable {what} mode: {value} for variable: {name}")
    return value


class Variable(_weft.VariableBase, Trackable, metaclass=VariableMetaclass):
    """A tensor that keeps its value between calls and can be assigned."""

    __array_priority__ = 100
    _is_tensor_like = True
    is_distributed_variable = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        hand_over(cls, Variable)

    def __init__(
        self,
        initial_value=None,
        trainable=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        variable_def=None,
        dtype=None,
        import_scope=None,
        constraint=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
        experimental_enable_variable_lifting=None,
        collections=None,
        **kwargs,
    ):
        if variable_def is not None:
            raise NotImplementedError("tf.Variable(variable_def=...) belongs to graphs of version 1")
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are not "
                "providing a `variable_def`. "
                "You provided neither."
            )
        self._synchronization = _mode(
            synchronization, VariableSynchronization, VariableSynchronization.AUTO, "synchronization", name
        )
        self._aggregation = _mode(aggregation, _AGGREGATIONS, VariableAggregation.NONE, "aggregation", name)
        if constraint is not None and not callable(constraint):
            raise ValueError(
                f"Argument `constraint` must be None or a callable. a callable. Got a {type(constraint)}:  {constraint}"
            )
        self._constraint = constraint
        if trainable is None:
            trainable = self._synchronization is not VariableSynchronization.ON_READ
        if name is not None and not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._create(
            initial_value,
            bool(trainable),
            name,
            None if dtype is None else dtypes.as_dtype(dtype),
            shape,
            validate_shape,
        )

    def _create(self, initial_value, trainable, name, dtype, shape, validate_shape):
        full = _weft.name_scope() + ("Variable" if name is None else name)
        self._shared_name = full[:-1] if full.endswith("/") else full
        value = self._first_value(initial_value, dtype)
        self._dtype = value.dtype.base_dtype
        if shape is None:
            self._shape = value.shape
        else:
            self._shape = as_shape(shape)
            if not self._shape.is_compatible_with(value.shape):
                raise ValueError(
                    f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) is not "
                    "compatible with the explicitly supplied "
                    f"`shape` argument ({shape})."
                )
        self._make(
            self._dtype,
            self._shape._dims,
            self._shared_name,
            trainable,
            self._synchronization.value,
            self._aggregation.value,
            _weft.scoped_device(),
        )
        self._trainable_flag = trainable
        try:
            self._initialize(value)
        except errors.InvalidArgumentError:
            # A value that needs the arguments of the function around: whoever calls the function gives it.
            if not isinstance(value, SymbolicTensor):
                raise
            value.graph.__dict__.setdefault("_late_values", []).append((self, value))

    def _first_value(self, initial_value, dtype):
        """The initial value as a tensor, computed outside of any function that is being traced where it can be."""
        if callable(initial_value) and not isinstance(initial_value, (Tensor, _weft.VariableBase)):
            if isinstance(initial_value, CheckpointInitialValueCallable):
                initial_value = initial_value()
            elif _weft.in_graph():
                from weft._src.framework.graph import init_scope

                with init_scope():
                    return self._first_value(initial_value(), dtype)
            else:
                initial_value = initial_value()
        if isinstance(initial_value, CheckpointInitialValue):
            self._maybe_initialize_trackable()
            self._update_uid = initial_value.checkpoint_position.restore_uid
            initial_value = initial_value.wrapped_value
        if isinstance(initial_value, Tensor):
            if dtype is not None and not dtype.is_compatible_with(initial_value.dtype):
                raise ValueError(
                    f"initial_value: Tensor conversion requested dtype {dtype.name} for Tensor with "
                    f"dtype {initial_value.dtype.name}: "
                    f"{initial_value!r}"
                )
            return initial_value
        return _weft.convert(initial_value, dtype, None)

    # ---- facts

    @property
    def name(self):
        # Interned: what replicas give is one value where it is one object (tf.distribute).
        return sys.intern(self._shared_name + ":0")

    @property
    def _handle_name(self):
        return self._shared_name + ":0"

    @_handle_name.setter
    def _handle_name(self, name):
        self._shared_name = name.removesuffix(":0")

    @property
    def _unique_id(self):
        """No two variables of the process have the same, however short they live."""
        made = self.__dict__.get("_own_unique_id")
        if made is None:
            made = self.__dict__["_own_unique_id"] = f"{self._shared_name}_{next(_numbers)}"
        return made

    @property
    def dtype(self):
        return self._dtype

    @property
    def shape(self):
        return self._shape

    def get_shape(self):
        return self._shape

    def _shape_as_list(self):
        return None if self._shape.rank is None else self._shape.as_list()

    def _shape_tuple(self):
        return self._shape._dims

    def set_shape(self, shape):
        self._shape = self._shape.merge_with(shape)

    @property
    def device(self):
        return self._eager_handle().device

    @property
    def trainable(self):
        return self._trainable_flag

    @property
    def _trainable(self):
        return self._trainable_flag

    @_trainable.setter
    def _trainable(self, on):
        self._trainable_flag = bool(on)
        if self._has_state():  # subclasses of others may keep their value elsewhere
            self._set_trainable(self._trainable_flag)

    @property
    def synchronization(self):
        return self._synchronization

    @property
    def aggregation(self):
        return self._aggregation

    @property
    def constraint(self):
        return self._constraint

    @property
    def handle(self):
        if _weft.in_graph():
            return self._get_handle()
        kept = self.__dict__.get("_handle_object")  # one object: programs compare by identity
        if kept is None:
            kept = self.__dict__["_handle_object"] = self._get_handle()
        return kept

    def _outer_handle(self):
        """The handle where the variable was made, however many graphs are being built inside."""
        return self._eager_handle()

    def _all_handles(self):
        """The resources of the variable: one of each copy."""
        return [self._eager_handle()]

    @property
    def _in_graph_mode(self):
        return False

    @property
    def op(self):
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self):
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    @property
    def initializer(self):
        return None

    @property
    def initial_value(self):
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    @property
    def create(self):
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    def initialized_value(self):
        from weft._src.function.control_flow import cond

        return cond(self.is_initialized(), self.read_value, lambda: self.initial_value)

    def eval(self, session=None):
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    def load(self, value, session=None):
        self.assign(value)

    def to_proto(self, export_scope=None):
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    def is_initialized(self, name=None):
        return raw.VarIsInitializedOp(resource=self.handle, name=name)

    def ref(self):
        """A hashable stand-in for this variable."""
        return Reference(self)

    experimental_ref = ref

    @property
    def _type_spec(self):
        from weft._src.framework.type_spec import VariableSpec

        return VariableSpec(self.shape, self.dtype, self.trainable)

    def __tf_tracing_type__(self, context):
        from weft._src.framework.type_spec import VariableSpec

        alias = (
            context.alias_global_id(self._outer_handle()._identity()) if hasattr(context, "alias_global_id") else None
        )
        return VariableSpec(self.shape, self.dtype, self.trainable, alias)

    # ---- reading

    def value(self):
        """The value now, or in the graph that is being built."""
        return self._read()

    def read_value(self):
        """The value now, as a tensor of its own."""
        if not _weft.in_graph():
            return self._read()
        with name_scope("Read"):
            value = self._read()
        return raw.Identity(input=value)

    def read_value_no_copy(self):
        return self.read_value()

    def _read_variable_op(self, no_copy=False):
        return self._read()

    def _dense_var_to_tensor(self, dtype=None, name=None, as_ref=False):
        if dtype is not None and not dtype.is_compatible_with(self.dtype):
            raise ValueError(
                f"Incompatible type conversion requested to type {dtype.name} for `tf.Variable of type "
                f"{self.dtype.name}. (Variable: {self})"
            )
        return self.value()

    def __tf_tensor__(self, dtype=None, name=None):
        return self._dense_var_to_tensor(dtype, name)

    def numpy(self):
        """The value as a numpy array or scalar."""
        if _weft.in_graph():
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        return self._read().numpy()

    def sparse_read(self, indices, name=None):
        """Rows of the value by index, without a copy of the whole."""
        self._accessed()
        return raw.ResourceGather(resource=self, indices=indices, dtype=self.dtype, name=name or "Gather")

    def gather_nd(self, indices, name=None):
        self._accessed()
        return raw.ResourceGatherNd(resource=self, indices=indices, dtype=self.dtype, name=name or "GatherNd")

    def __getitem__(self, key):
        from weft._src.ops import slicing

        part = slicing.getitem(self.value() if _weft.in_graph() else self, key)
        part.assign = functools.partial(_assign_part, self, key)
        return part

    def __iter__(self):
        return iter(self.read_value())

    def __bool__(self):
        return bool(self.read_value())

    __nonzero__ = __bool__

    def __int__(self):
        return int(self.value().numpy())

    def __float__(self):
        return float(self.value().numpy())

    def __complex__(self):
        return complex(self.value().numpy())

    def __array__(self, dtype=None, copy=None):
        import numpy as np

        array = np.asarray(self.numpy())
        return array if dtype is None else array.astype(dtype)

    # ---- writing

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """Replaces the value; gives something that reads the variable after that."""
        return self._write(_ASSIGN, value, read_value)

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        return self._write(_ADD, delta, read_value)

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        return self._write(_SUBTRACT, delta, read_value)

    def _write(self, op, value, read_value):
        if not isinstance(value, Tensor):
            value = _weft.convert(value, self._dtype, None)
        elif value.dtype is not self._dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {self._dtype.name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        try:
            node = self._assign(op, value)
        except errors.InvalidArgumentError:
            self._explain(op, value)
            raise
        if not read_value:
            return node
        unread = _UnreadVariable.__new__(_UnreadVariable)
        unread._adopt(self)
        unread.__dict__ = self.__dict__
        unread._parent_op = node
        return unread

    def _explain(self, op, value):
        """TensorFlow's words for a value that does not fit."""
        if self._shape.is_compatible_with(value.shape):
            return
        if op == _ASSIGN:
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape "
                f"{self._shape}, and the assigned value shape "
                f"{value.shape} are incompatible."
            ) from None
        if not _weft.in_graph():
            sizes = ["[" + ",".join("?" if d is None else str(d) for d in s) + "]" for s in (self._shape, value.shape)]
            text = f"Cannot update variable with shape {sizes[0]} using a Tensor with shape {sizes[1]}, shapes must be equal."
            text = _weft.called_text(text, op, f"{op}_device_{self.device}", "")
            raise errors.InvalidArgumentError(None, None, text) from None

    def _lazy_read(self, op):
        """A variable that is read after op ran."""
        unread = _UnreadVariable.__new__(_UnreadVariable)
        unread._adopt(self)
        unread.__dict__ = self.__dict__
        unread._parent_op = op
        return unread

    def _scatter(self, op, delta, name):
        from weft._src.framework.indexed_slices import IndexedSlices

        if not isinstance(delta, IndexedSlices):
            raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {delta}")
        return self._lazy_read(
            op(resource=self, indices=delta.indices, updates=_weft.convert(delta.values, self.dtype, None), name=name)
        )

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        """Adds tf.IndexedSlices."""
        return self._scatter(raw.ResourceScatterAdd, sparse_delta, name)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterSub, sparse_delta, name)

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterMax, sparse_delta, name)

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterMin, sparse_delta, name)

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterMul, sparse_delta, name)

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterDiv, sparse_delta, name)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterUpdate, sparse_delta, name)

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Writes slices by index within each batch of the leading dimensions."""
        from weft._src.framework.indexed_slices import IndexedSlices

        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}")
        indices = _weft.convert(sparse_delta.indices, None, None)
        # Coordinates of the batch beside the given index: a scatter of whole rows at points.
        rank = indices.shape.rank
        shape = raw.Shape(input=indices)
        parts = []
        for axis in range(rank - 1):
            size = raw.StridedSlice(input=shape, begin=[axis], end=[axis + 1], strides=[1], shrink_axis_mask=1)
            steps = raw.Range(start=0, limit=size, delta=1)
            steps = raw.Cast(
                x=raw.Reshape(tensor=steps, shape=[-1 if a == axis else 1 for a in range(rank)]), DstT=indices.dtype
            )
            parts.append(raw.BroadcastTo(input=steps, shape=shape))
        points = raw.Pack(values=[*parts, indices], axis=-1)
        return self.scatter_nd_update(points, sparse_delta.values, name)

    def _scatter_nd(self, op, indices, updates, name):
        from weft._src.framework.convert import convert_to_tensor

        return self._lazy_read(op(ref=self, indices=indices, updates=convert_to_tensor(updates, self.dtype), name=name))

    def scatter_nd_add(self, indices, updates, name=None):
        return self._scatter_nd(raw.ResourceScatterNdAdd, indices, updates, name)

    def scatter_nd_sub(self, indices, updates, name=None):
        return self._scatter_nd(raw.ResourceScatterNdSub, indices, updates, name)

    def scatter_nd_max(self, indices, updates, name=None):
        return self._scatter_nd(raw.ResourceScatterNdMax, indices, updates, name)

    def scatter_nd_min(self, indices, updates, name=None):
        return self._scatter_nd(raw.ResourceScatterNdMin, indices, updates, name)

    def scatter_nd_update(self, indices, updates, name=None):
        return self._scatter_nd(raw.ResourceScatterNdUpdate, indices, updates, name)

    def _strided_slice_assign(
        self,
        begin,
        end,
        strides,
        value,
        name,
        begin_mask=0,
        end_mask=0,
        ellipsis_mask=0,
        new_axis_mask=0,
        shrink_axis_mask=0,
    ):
        return self._lazy_read(
            raw.ResourceStridedSliceAssign(
                ref=self,
                begin=begin,
                end=end,
                strides=strides,
                value=_weft.convert(value, self.dtype, None),
                begin_mask=begin_mask,
                end_mask=end_mask,
                ellipsis_mask=ellipsis_mask,
                new_axis_mask=new_axis_mask,
                shrink_axis_mask=shrink_axis_mask,
                name=name,
            )
        )

    def count_up_to(self, limit):
        """Adds one; an error at the limit."""
        return raw.ResourceCountUpTo(resource=self, limit=limit, T=self.dtype)

    # ---- operators: the binary ones are the engine's

    def __neg__(self):
        return -self._read()

    def __pos__(self):
        return self._read()

    def __abs__(self):
        return abs(self._read())

    def __invert__(self):
        return ~self._read()

    def _in_place(sign, method):  # noqa: N805: makes methods of this class
        def refuse(self, other):
            call = f"assign(variable {sign} value)" if method == "assign" else f"{method}(value)"
            raise RuntimeError(
                f"`variable {sign}= value` with `tf.Variable`s is not supported. Use `variable.{call}` "
                f"to modify the variable, or `out = variable {'*' if sign == '-' else sign} value` if you need to get a new "
                "output Tensor."
            )

        return refuse

    __iadd__ = _in_place("+", "assign_add")
    __isub__ = _in_place("-", "assign_sub")
    __imul__ = _in_place("*", "assign")
    __itruediv__ = _in_place("/", "assign")
    __idiv__ = _in_place("/", "assign")
    __irealdiv__ = _in_place("/", "assign")
    __ipow__ = _in_place("**", "assign")
    del _in_place

    def __hash__(self):
        raise TypeError(f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self})")

    # ---- copies

    def __deepcopy__(self, memo):
        if _weft.in_graph():
            raise NotImplementedError("__deepcopy__() is only available when eager execution is enabled.")
        made = ResourceVariable(
            self.read_value(),
            trainable=self.trainable,
            constraint=self.constraint,
            dtype=self.dtype,
            name=self._shared_name,
            synchronization=self.synchronization,
            aggregation=self.aggregation,
            shape=self.shape,
        )
        memo[id(self)] = made
        return made

    def __copy__(self):
        return self

    def __reduce__(self):
        return _unpickle, (self.numpy(), self.trainable, self._shared_name, self.dtype._type_enum, self.constraint)

    # ---- saving

    def _serialize_to_tensors(self):
        return {VARIABLE_VALUE_KEY: self._read_for_saving()}

    def _read_for_saving(self):
        _weft.pause_tapes()
        try:
            return self.value()
        finally:
            _weft.resume_tapes()

    def _restore_from_tensors(self, restored_tensors):
        value = restored_tensors[VARIABLE_VALUE_KEY]
        if isinstance(value, Tensor) and value.dtype is not self._dtype:
            names = {"float32": "float", "float64": "double", "float16": "half"}
            want, have = (names.get(t.name, t.name) for t in (self._dtype, value.dtype))
            text = f"expected dtype {want} does not equal original dtype {have}"
            raise errors.InvalidArgumentError(None, None, _weft.called_text(text, _weft.op_of_role("restore")))
        if not self.shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Received incompatible tensor with shape {value.shape} when attempting to restore "
                f"variable with shape {self.shape} and name "
                f"{self.name}."
            )
        return self.assign(value, read_value=False)

    def __repr__(self):
        if _weft.in_graph() or not self._has_state():
            return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"
        try:
            _weft.pause_tapes()
            try:
                text = self._read()._shown()
            finally:
                _weft.resume_tapes()
        except errors.FailedPreconditionError:
            text = "numpy=<unavailable>"
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, {text}>"


def _assign_part(variable, key, value, name=None):
    """v[key].assign(value)"""
    from weft._src.ops import slicing

    begin, end, strides, masks = slicing.spec(key)
    if _weft.in_graph():
        begin, end, strides = (slicing._packed(part, None) for part in (begin, end, strides))
    else:
        begin, end, strides = (slicing._index(part) for part in (begin, end, strides))
    return variable._strided_slice_assign(begin=begin, end=end, strides=strides, value=value, name=name, **masks)


class ResourceVariable(Variable):
    """What tf.Variable(...) makes."""


class _UnreadVariable(ResourceVariable):
    """What an assignment gives: the variable, to be read after it."""

    __slots__ = ("_parent_op",)

    @property
    def name(self):
        op = self._parent_op
        return "UnreadVariable" if op is None or op.graph.building_function else op.name

    @property
    def op(self):
        return self._parent_op

    def _as_graph_element(self):
        return self._parent_op


def _unpickle(array, trainable, name, number, constraint):
    return ResourceVariable(array, trainable=trainable, name=name, dtype=dtypes.DType(number), constraint=constraint)
