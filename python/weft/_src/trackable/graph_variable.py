"""Variables of graphs of version 1: nodes that a session gives a value."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import control_dependencies, init_scope, name_scope_v1
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape, as_shape
from weft._src.trackable.variable import _AGGREGATIONS, Variable, VariableAggregation, VariableSynchronization, _mode

GLOBAL_VARIABLES, TRAINABLE_VARIABLES = "variables", "trainable_variables"


class GraphVariable(Variable):
    """A resource variable by its handle's node."""

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
        use_resource=None,
        **kwargs,
    ):
        if variable_def is not None:
            self._from_def(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a `variable_def`. "
                "You provided neither."
            )
        if collections is None:
            collections = [GLOBAL_VARIABLES]
        if not isinstance(collections, (list, tuple, set)):
            raise ValueError(
                f"collections argument to Variable constructor must be a list, tuple, or set. Got {collections} of type {type(collections)}"
            )
        self._synchronization = _mode(
            synchronization, VariableSynchronization, VariableSynchronization.AUTO, "synchronization", name
        )
        self._aggregation = _mode(aggregation, _AGGREGATIONS, VariableAggregation.NONE, "aggregation", name)
        self._constraint = constraint
        self._trainable_flag = (
            self._synchronization is not VariableSynchronization.ON_READ if trainable is None else bool(trainable)
        )
        with init_scope():
            self._build(initial_value, name, None if dtype is None else dtypes.as_dtype(dtype), shape, validate_shape)
        graph = self._handle.graph
        wanted = list(collections)
        if self._trainable_flag and TRAINABLE_VARIABLES not in wanted:
            wanted.append(TRAINABLE_VARIABLES)
        graph.add_to_collections(wanted, self)

    def _build(self, initial_value, name, dtype, shape, validate_shape):
        with control_dependencies(None), name_scope_v1(name, "Variable") as scope:
            self._shared_name = scope[:-1]
            # The shape of the value is that of the handle, which comes first.
            with name_scope_v1("Initializer"):
                value = (
                    initial_value()
                    if callable(initial_value) and not isinstance(initial_value, (Tensor, _weft.VariableBase))
                    else initial_value
                )
                value = convert_to_tensor(value, dtype=dtype, name="initial_value")
            self._dtype = value.dtype.base_dtype
            if shape is not None:
                self._shape = as_shape(shape)
                if not self._shape.is_compatible_with(value.shape):
                    raise ValueError(
                        f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) is not compatible with the explicitly supplied "
                        f"`shape` argument ({shape})."
                    )
            else:
                self._shape = value.shape if validate_shape else TensorShape(None)
            self._handle = raw.VarHandleOp(
                dtype=self._dtype, shape=self._shape, shared_name=self._shared_name, name=scope
            )
            self._initial_value = value
            self._is_initialized_op = raw.VarIsInitializedOp(
                resource=self._handle, name="IsInitialized/VarIsInitializedOp"
            )
            self._initializer_op = raw.AssignVariableOp(resource=self._handle, value=value, name="Assign")
            self._graph_element = raw.ReadVariableOp(
                resource=self._handle, dtype=self._dtype, name="Read/ReadVariableOp"
            )

    def _from_def(self, proto, import_scope):
        """A variable whose nodes are in the graph already."""
        from weft._src.framework.graph import get_default_graph

        graph = get_default_graph()

        def element(name):
            return graph.as_graph_element(f"{import_scope}/{name}" if import_scope else name)

        self._handle = element(proto.variable_name)
        self._shared_name = self._handle.op.name
        self._initializer_op = element(proto.initializer_name)
        self._initial_value = element(proto.initial_value_name) if proto.initial_value_name else None
        self._graph_element = element(proto.snapshot_name)
        self._is_initialized_op = None
        self._trainable_flag = proto.trainable
        self._synchronization, self._aggregation = (
            VariableSynchronization(proto.synchronization),
            VariableAggregation(proto.aggregation),
        )
        self._constraint = None
        self._dtype = dtypes.as_dtype(self._handle.op.get_attr("dtype"))
        self._shape = TensorShape(self._handle.op._attrs["shape"])

    # ---- facts

    @property
    def _in_graph_mode(self):
        return True

    @property
    def handle(self):
        return self._handle

    def _outer_handle(self):
        return self._handle

    def _accessed(self):
        if self._trainable_flag:
            _weft.tape_access(self._handle)

    @property
    def _unique_id(self):
        return self._shared_name

    @property
    def op(self):
        return self._handle.op

    @property
    def graph(self):
        return self._handle.graph

    @property
    def device(self):
        return self._handle.op.device

    @property
    def _trainable(self):
        return self._trainable_flag

    @property
    def initializer(self):
        return self._initializer_op

    @property
    def initial_value(self):
        return self._initial_value

    @property
    def create(self):
        return self._initializer_op

    def _as_graph_element(self):
        return self._graph_element

    def is_initialized(self, name=None):
        return raw.VarIsInitializedOp(resource=self._handle, name=name)

    def __repr__(self):
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    # ---- values

    def _accessed(self):
        """Tells the tapes."""
        if self._trainable_flag:
            _weft.access_variable(self, self._handle)

    def value(self):
        self._accessed()
        return raw.ReadVariableOp(resource=self._handle, dtype=self._dtype)

    def read_value(self):
        self._accessed()
        with name_scope_v1("Read"):
            value = raw.ReadVariableOp(resource=self._handle, dtype=self._dtype)
        return raw.Identity(input=value)

    read_value_no_copy = read_value
    _read = value

    def _read_variable_op(self, no_copy=False):
        return self.value()

    def _read_for_saving(self):
        return self.value()

    def numpy(self):
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def sparse_read(self, indices, name=None):
        self._accessed()
        return raw.ResourceGather(resource=self._handle, indices=indices, dtype=self._dtype, name=name or "Gather")

    def gather_nd(self, indices, name=None):
        self._accessed()
        return raw.ResourceGatherNd(resource=self._handle, indices=indices, dtype=self._dtype, name=name or "GatherNd")

    def eval(self, session=None):
        """The value in a session."""
        return self._graph_element.eval(session=session)

    def load(self, value, session=None):
        """Sets the value in a session."""
        from weft._src.compat.session import default_session

        default_session(session, "run").run(self._initializer_op, {self._initial_value: value})

    def initialized_value(self):
        from weft._src.function.control_flow import cond

        return cond(self.is_initialized(), self.read_value, lambda: self._initial_value)

    def _write(self, op, value, read_value):
        value = convert_to_tensor(value, dtype=self._dtype)
        if not self._shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape {self._shape}, and the assigned value shape "
                f"{value.shape} are incompatible."
            )
        node = getattr(raw, op)(resource=self._handle, value=value)
        return self._lazy_read(node) if read_value else node

    def _lazy_read(self, op):
        made = _AssignedVariable.__new__(_AssignedVariable)
        made.__dict__.update(self.__dict__)
        made._parent_op, made._variable = op, self
        return made

    def to_proto(self, export_scope=None):
        """The VariableDef."""
        from weft._src.proto import VariableDef

        def bare(name):
            return name.removeprefix(export_scope.rstrip("/") + "/") if export_scope else name

        made = VariableDef(
            variable_name=bare(self._handle.name),
            initializer_name=bare(self._initializer_op.name),
            snapshot_name=bare(self._graph_element.name),
            is_resource=True,
            trainable=self._trainable_flag,
            synchronization=self._synchronization.value,
            aggregation=self._aggregation.value,
        )
        if self._initial_value is not None:
            made.initial_value_name = bare(self._initial_value.name)
        return made

    @classmethod
    def from_proto(cls, variable_def, import_scope=None):
        return type.__call__(cls, variable_def=variable_def, import_scope=import_scope)

    def __deepcopy__(self, memo):
        raise NotImplementedError("__deepcopy__() is only available when eager execution is enabled.")


GraphVariable.__name__ = GraphVariable.__qualname__ = "ResourceVariable"  # as TensorFlow's


class _AssignedVariable(GraphVariable):
    """What an assignment gives: the variable as it is after it."""

    def _accessed(self):
        self._variable._accessed()

    @property
    def op(self):
        return self._parent_op

    def _as_graph_element(self):
        found = self.__dict__.get("_element_after")
        if found is None:
            with self.graph.as_default(), self.graph.control_dependencies([self._parent_op]):
                found = self.__dict__["_element_after"] = raw.ReadVariableOp(resource=self._handle, dtype=self._dtype)
        return found

    def value(self):
        self._accessed()
        with control_dependencies([self._parent_op]):
            return raw.ReadVariableOp(resource=self._handle, dtype=self._dtype)

    def read_value(self):
        return self.value()

    _read = value
