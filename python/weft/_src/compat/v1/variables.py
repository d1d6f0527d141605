"""Variables of version 1: get_variable, scopes, collections."""

import contextlib
import functools

from weft import _weft
from weft._src.framework.contexts import contextmanager
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import control_dependencies, get_default_graph, init_scope, name_scope_v1
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import as_shape
from weft._src.trackable.variable import Variable, VariableAggregation, VariableSynchronization


class GraphKeys:
    """The names of collections."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAIN_OP = "train_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


class _AutoReuse:
    def __repr__(self):
        return "<_ReuseMode.AUTO_REUSE: 1>"


AUTO_REUSE = _AutoReuse()


# ---- collections -----------------------------------------------------------------------------------------


def add_to_collection(name, value):
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    get_default_graph().add_to_collections(names, value)


def get_collection(key, scope=None):
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    return get_default_graph().get_collection_ref(key)


def global_variables(scope=None):
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables():
    """The former name of global_variables."""
    return global_variables()


def local_variables(scope=None):
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope=None):
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope=None):
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope=None):
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list, name="init"):
    """An op that gives these variables their initial values."""
    from weft._src.function.control_flow import group

    if var_list and _weft.in_graph():
        return group(*[v.initializer for v in var_list], name=name)
    return group(name=name)


def global_variables_initializer():
    return variables_initializer(global_variables())


def local_variables_initializer():
    return variables_initializer(local_variables())


def tables_initializer(name="init_all_tables"):
    from weft._src.function.control_flow import group

    return group(*get_collection(GraphKeys.TABLE_INITIALIZERS), name=name)


def is_variable_initialized(variable):
    return variable.is_initialized()


def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """The names of variables without a value, when it runs."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    with name_scope_v1(name):
        if not var_list:
            return convert_to_tensor([], dtype=dtypes.string)
        missing = raw.LogicalNot(x=raw.Pack(values=[v.is_initialized() for v in var_list]))
        names = convert_to_tensor([v.op.name for v in var_list], dtype=dtypes.string)
        rows = raw.Reshape(tensor=raw.Where(input=missing), shape=[-1])
        return raw.GatherV2(params=names, indices=rows, axis=0)


def assert_variables_initialized(var_list=None):
    from weft._src.function.control_flow import group

    return group(*[v.read_value() for v in (global_variables() + local_variables() if var_list is None else var_list)])


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    return ref.assign(value, name=name)


def assign_add(ref, value, use_locking=None, name=None):
    return ref.assign_add(value)


def assign_sub(ref, value, use_locking=None, name=None):
    return ref.assign_sub(value)


# ---- scopes ----------------------------------------------------------------------------------------------


class VariableScope:
    """What get_variable uses where its arguments say nothing."""

    def __init__(
        self,
        reuse,
        name="",
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        name_scope="",
        dtype=dtypes.float32,
        use_resource=None,
        constraint=None,
    ):
        self._name, self._reuse, self._initializer, self._regularizer = name, reuse, initializer, regularizer
        self._custom_getter, self._name_scope, self._dtype, self._constraint = (
            custom_getter,
            name_scope,
            dtype,
            constraint,
        )
        self._use_resource, self._caching_device, self._partitioner = use_resource, caching_device, partitioner

    name = property(lambda self: self._name)
    original_name_scope = property(lambda self: self._name_scope)
    reuse = property(lambda self: self._reuse)
    initializer = property(lambda self: self._initializer)
    regularizer = property(lambda self: self._regularizer)
    dtype = property(lambda self: self._dtype)
    custom_getter = property(lambda self: self._custom_getter)
    constraint = property(lambda self: self._constraint)
    partitioner = property(lambda self: self._partitioner)
    use_resource = property(lambda self: self._use_resource)
    caching_device = property(lambda self: self._caching_device)

    def reuse_variables(self):
        self._reuse = True

    def set_initializer(self, initializer):
        self._initializer = initializer

    def set_caching_device(self, caching_device):
        if not _weft.in_graph():
            raise NotImplementedError("Caching devices are not yet supported when eager execution is enabled.")
        self._caching_device = caching_device

    def set_dtype(self, dtype):
        self._dtype = dtype

    def set_regularizer(self, regularizer):
        self._regularizer = regularizer

    def set_partitioner(self, partitioner):
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter):
        self._custom_getter = custom_getter

    def set_use_resource(self, use_resource):
        self._use_resource = use_resource

    def get_collection(self, name):
        return get_collection(name, self._name + "/" if self._name else "")

    def trainable_variables(self):
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self):
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self):
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, store, name, **options):
        return get_variable(name, **options)


class _State:
    """What a graph knows of its variables by name, and the scope that is open."""

    def __init__(self):
        self.variables, self.partitioned = {}, {}
        self.scope = VariableScope(False)
        self.counts = {}
        self.eager = False
        self.templates = False  # of a template of code that runs at once


_holders = []  # of functions that are being wrapped, and templates of code that runs at once


def _state():
    if _holders:
        return _holders[-1]
    graph = _weft.current_graph() if _weft.in_graph() else None
    if graph is not None and graph.building_function:
        holder = getattr(graph, "_variable_state", None)
        if holder is not None:
            return holder
        with init_scope():
            if _weft.in_graph():
                graph = _weft.current_graph()
            else:
                graph = None
    if graph is None:
        if not hasattr(_state, "outside"):
            _state.outside = _State()
            _state.outside.eager = True
        return _state.outside
    if not hasattr(graph, "_variable_state"):
        graph._variable_state = _State()
    return graph._variable_state


def get_variable_scope():
    return _state().scope


def _unique_scope(state, prefix):
    """Prefix, or prefix_1 ..., that no scope had yet."""
    outer = state.scope.name
    full = f"{outer}/{prefix}" if outer else prefix
    if not state.counts.get(full, 0):
        return prefix
    count = 1
    while state.counts.get(f"{full}_{count}", 0):
        count += 1
    return f"{prefix}_{count}"


class variable_scope:
    """Variables and ops of the block have names that begin with the scope's."""

    def __init__(
        self,
        name_or_scope,
        default_name=None,
        values=None,
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        reuse=None,
        dtype=None,
        use_resource=None,
        constraint=None,
        auxiliary_name_scope=True,
    ):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse is False:
            reuse = None
        if not (reuse is True or reuse is None or reuse is AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        self._given, self._default, self._reuse, self._auxiliary = (
            name_or_scope,
            default_name,
            reuse,
            auxiliary_name_scope,
        )
        self._options = dict(
            initializer=initializer,
            regularizer=regularizer,
            custom_getter=custom_getter,
            dtype=dtype,
            constraint=constraint,
            use_resource=use_resource,
            caching_device=caching_device,
            partitioner=partitioner,
        )
        self._exits = []

    def __enter__(self):
        state = _state()
        before = state.scope
        stack = contextlib.ExitStack()
        given = self._given
        if isinstance(given, VariableScope):
            base, name = given, given.name
            label = given.original_name_scope if given is before else name.rpartition("/")[2]
        elif given is not None and not isinstance(given, str):
            raise TypeError(f"VariableScope: name_or_scope must be a string or VariableScope. Got: {given!r}")
        else:
            if given is None:
                if self._reuse:
                    raise ValueError("reuse=True cannot be used without a name_or_scope")
                label = _unique_scope(state, self._default)
            else:
                label = given
            base, name = before, f"{before.name}/{label}" if before.name and label else before.name or label
            if given == "":
                name = before.name
        name_scope = before.original_name_scope
        if self._auxiliary and label:
            name_scope = stack.enter_context(name_scope_v1(label))
        options = {k: getattr(base, k) if v is None else v for k, v in self._options.items()}
        if self._options["custom_getter"] is not None and base.custom_getter is not None:
            options["custom_getter"] = _chained(self._options["custom_getter"], base.custom_getter)
        reuse = base.reuse if self._reuse is None else self._reuse
        if isinstance(given, VariableScope) and self._reuse is None:
            reuse = given.reuse or before.reuse
        if before.reuse and not reuse:
            reuse = before.reuse
        scope = VariableScope(
            reuse,
            name,
            name_scope=given.original_name_scope if isinstance(given, VariableScope) else name_scope,
            **options,
        )
        state.counts[name] = state.counts.get(name, 0) + 1
        state.scope = scope
        self._exits.append((state, before, stack, dict(state.counts) if isinstance(given, VariableScope) else name))
        return scope

    def __exit__(self, *error):
        state, before, stack, counts = self._exits.pop()
        state.scope = before
        # Default names inside begin anew when the scope is entered again, so that code finds its variables.
        if isinstance(counts, dict):
            state.counts = counts
        else:
            state.counts.update({k: 0 for k in state.counts if k.startswith(counts + "/")})
        return stack.__exit__(*error)


def _chained(outer, inner):
    def getter(next_getter, *args, **kwargs):
        return outer(lambda *a, **k: inner(next_getter, *a, **k), *args, **kwargs)

    return getter


@contextmanager
def variable_op_scope(
    values,
    name_or_scope,
    default_name=None,
    initializer=None,
    regularizer=None,
    caching_device=None,
    partitioner=None,
    custom_getter=None,
    reuse=None,
    dtype=None,
    use_resource=None,
    constraint=None,
):
    with variable_scope(
        name_or_scope,
        default_name,
        values,
        initializer=initializer,
        regularizer=regularizer,
        caching_device=caching_device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        reuse=reuse,
        dtype=dtype,
        use_resource=use_resource,
        constraint=constraint,
    ) as scope:
        yield scope


def no_regularizer(_):
    return None


# ---- get_variable ----------------------------------------------------------------------------------------


def get_variable(
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable=None,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    use_resource=None,
    custom_getter=None,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
):
    """The variable of this name in the scope: made, or found again where the scope reuses."""
    state = _state()
    scope = state.scope
    partitioner = scope.partitioner if partitioner is None else partitioner
    initializer = scope.initializer if initializer is None else initializer
    regularizer = scope.regularizer if regularizer is None else regularizer
    constraint = scope.constraint if constraint is None else constraint
    getter = scope.custom_getter if custom_getter is None else custom_getter
    if custom_getter is not None and scope.custom_getter is not None:
        getter = _chained(custom_getter, scope.custom_getter)
    if dtype is None:
        dtype = scope.dtype if not isinstance(initializer, Tensor) else initializer.dtype
    options = dict(
        name=f"{scope.name}/{name}" if scope.name and name else scope.name or name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        reuse=scope.reuse,
        trainable=trainable,
        collections=collections,
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )

    def make(name, partitioner=None, shape=None, reuse=None, **options):
        scalar = shape is not None and as_shape(shape).rank == 0
        if (partitioner is not None and not scalar) or (reuse is True and name in state.partitioned):
            from weft._src.compat.v1 import partitioned

            if state.eager:
                raise ValueError("Partitioned variables are not yet supported when eager execution is enabled.")
            return partitioned.get_partitioned(
                state, functools.partial(_get, state), name, shape, partitioner=partitioner, reuse=reuse, **options
            )
        if f"{name}/part_0" in state.variables:
            raise ValueError(
                f"No partitioner was provided, but a partitioned version of the variable was found: {name}/part_0. "
                "Perhaps a variable of the same name was already created with partitioning?"
            )
        return _get(state, name, shape=shape, reuse=reuse, **options)

    return make(**options) if getter is None else getter(make, **options)


def _get(
    state,
    name,
    shape=None,
    dtype=dtypes.float32,
    initializer=None,
    regularizer=None,
    reuse=None,
    trainable=None,
    collections=None,
    validate_shape=True,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
    **ignored,
):
    found = state.variables.get(name)
    if found is not None and not state.eager:
        if reuse is False or reuse is None:
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
            )
        if shape is not None and not as_shape(shape).is_compatible_with(found.shape):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {as_shape(shape)} and found shape {found.shape}."
            )
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {dtypes.as_dtype(dtype).name} and found dtype {found.dtype.name}."
            )
        return found
    if reuse is True and not state.eager:
        raise ValueError(
            f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    made = _make(
        name,
        shape,
        dtypes.as_dtype(dtype),
        initializer,
        trainable,
        collections,
        validate_shape,
        constraint,
        synchronization,
        aggregation,
    )
    if not state.eager:
        state.variables[name] = made
    if regularizer is not None:
        with control_dependencies(None), name_scope_v1(name + "/Regularizer/"):
            loss = regularizer(made)
        if loss is not None and _weft.in_graph():
            add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return made


def _make(
    name, shape, dtype, initializer, trainable, collections, validate_shape, constraint, synchronization, aggregation
):
    from weft._src.compat.v1 import initializers

    if initializer is None:
        if shape is None:
            raise ValueError(f"Variable {name} did not get an initializer, so its `shape` argument must be specified.")
        if dtype.is_floating:
            initializer = initializers.glorot_uniform()
        elif dtype.is_integer or dtype.is_unsigned or dtype.is_bool:
            initializer = initializers.zeros()
        else:
            raise ValueError(
                f"An initializer for variable {name} of {dtype.base_dtype} is required. The dtype is not supported by the default initializer."
            )
    elif isinstance(initializer, type):
        initializer = initializer()
    if callable(initializer) and not isinstance(initializer, Tensor):
        if shape is None:
            value = initializer if not _wants_shape(initializer) else None
            if value is None:
                raise ValueError(
                    f"The initializer passed is not valid. It should be a callable with no arguments and the shape should not be provided or an "
                    f"instance of `tf.keras.initializers.*' and `shape` should be fully defined."
                )
        else:
            sizes = as_shape(shape)
            if not sizes.is_fully_defined():
                raise ValueError(f"Shape of a new variable ({name}) must be fully defined, but instead was {sizes}.")

            def value():
                return initializer(sizes.as_list(), dtype=dtype) if not _takes_nothing(initializer) else initializer()

        made_type = dtype
    else:
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        value = (
            initializer
            if isinstance(initializer, Tensor)
            else convert_to_tensor(initializer)
            if not _weft.in_graph()
            else initializer
        )
        made_type = (
            value.dtype.base_dtype
            if isinstance(value, Tensor)
            else None
            if isinstance(initializer, (str, bytes, bool, int, list, tuple))
            else dtype
        )
        if made_type is None and not isinstance(initializer, (str, bytes)):
            made_type = None
    with name_scope_v1(None):
        return Variable(
            initial_value=value,
            trainable=trainable,
            name=name,
            dtype=made_type,
            validate_shape=validate_shape,
            constraint=constraint,
            synchronization=synchronization,
            aggregation=aggregation,
            **({"collections": collections} if collections is not None else {}),
        )


def _takes_nothing(function):
    import inspect

    try:
        return not inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _wants_shape(function):
    return not _takes_nothing(function)


def get_local_variable(
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable=False,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    use_resource=None,
    custom_getter=None,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
):
    """A variable of the collection of local ones."""
    collections = [GraphKeys.LOCAL_VARIABLES] if not collections else [*collections, GraphKeys.LOCAL_VARIABLES]
    return get_variable(
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        False,
        collections,
        caching_device,
        partitioner,
        validate_shape,
        use_resource,
        custom_getter,
        constraint,
        synchronization,
        aggregation,
    )


# ---- templates -------------------------------------------------------------------------------------------


class Template:
    """A function whose variables are made at the first call and shared by the others."""

    def __init__(self, name, func, create_scope_now=False, unique_name=None, custom_getter=None, **kwargs):
        self._func, self._kwargs, self._getter = func, kwargs, custom_getter
        self._label, self._unique = name, unique_name
        self._scope, self._called = None, False
        self._own = None  # where code runs at once, variables are known here alone
        if create_scope_now:
            self._open()

    def _open(self):
        with variable_scope(self._unique, default_name=self._label, custom_getter=self._getter) as scope:
            self._scope = scope

    def __call__(self, *args, **kwargs):
        if self._scope is None:
            with variable_scope(self._unique, default_name=self._label, custom_getter=self._getter) as scope:
                self._scope = scope
                return self._run(scope, args, kwargs)
        with variable_scope(self._scope, reuse=True if self._called else None) as scope:
            return self._run(scope, args, kwargs)

    def _run(self, scope, args, kwargs):
        around = _state()
        if not around.eager:
            if around.templates:  # a template inside another one shares what is known there
                self._own = around
            result = self._func(*args, **self._kwargs, **kwargs)
            self._called = True
            return result
        if self._own is None:
            self._own = _State()
            self._own.templates = True
        self._own.scope, self._own.counts = scope, {}
        _holders.append(self._own)
        try:
            result = self._func(*args, **self._kwargs, **kwargs)
        finally:
            _holders.pop()
        self._called = True
        return result

    def _known(self, kind):
        """The variables of a kind."""
        if self._own is None:
            return getattr(self._scope, kind)()
        prefix = self._scope.name + "/"
        found = [v for name, v in self._own.variables.items() if name.startswith(prefix)]
        return [v for v in found if v.trainable] if kind == "trainable_variables" else found

    @property
    def name(self):
        return self._scope.name if self._scope is not None else self._label

    @property
    def func(self):
        return self._func

    @property
    def variable_scope(self):
        return self._scope

    @property
    def var_scope(self):
        return self._scope

    @property
    def variables(self):
        return self.global_variables + self.local_variables

    @property
    def trainable_variables(self):
        return self._known("trainable_variables")

    @property
    def non_trainable_variables(self):
        trainable = {id(v) for v in self.trainable_variables}
        return [v for v in self.variables if id(v) not in trainable]

    trainable_weights, non_trainable_weights, weights = trainable_variables, non_trainable_variables, variables

    @property
    def global_variables(self):
        return self._known("global_variables")

    @property
    def local_variables(self):
        return self._known("local_variables") if self._own is None else []


def make_template(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs):
    """A function with variables of its own, made once."""
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_, **kwargs)
