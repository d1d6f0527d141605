"""tf.function: Python functions as graphs, one for each signature."""

import functools
import inspect
import sys
import weakref
from types import MethodType

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import fork, nest, op_stacks, save_context
from weft._src.framework.graph import FuncGraph, Operation
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.function import retracing, signature as sig, trace_type
from weft._src.function.concrete import ConcreteFunction


def run_functions_eagerly(run_eagerly):
    """tf.config.run_functions_eagerly: whether functions run as plain Python from now on."""
    _weft.set_run_functions_eagerly(bool(run_eagerly))


def functions_run_eagerly():
    """tf.config.functions_run_eagerly"""
    return _weft.functions_run_eagerly()


_ATTRIBUTES = frozenset(
    "api_implements api_preferred_device forward_function_name backward_function_name _noinline _xla_compile_backend "
    "disable_call_shape_inference disable_acd implements embedded_functions runtime_constant_optimization "
    "_OutputsOnOpDevice _disable_acd _implements _tf_data_function disable_summaries_at_runtime experimental_ints_on_device "
    "function_runs_at_most_once go_backwards time_major".split()
)


class _Signature:
    """The attribute __signature__ of functions, which their class does not have: getfullargspec looks at nothing else."""

    def __get__(self, function, owner):
        if function is None:
            raise AttributeError("__signature__")
        try:
            return inspect.signature(function._python_function)
        except (TypeError, ValueError) as e:
            raise AttributeError("__signature__") from e


@_weft.call_quickly
class Function(_weft.FunctionBase):
    """A Python function that runs as graphs. Made by tf.function. Calls come to the base class first, which knows those it has seen."""

    __signature__ = _Signature()

    def __init__(
        self,
        python_function,
        name,
        input_signature=None,
        autograph=True,
        jit_compile=None,
        reduce_retracing=False,
        experimental_implements=None,
        experimental_autograph_options=None,
        experimental_attributes=None,
    ):
        self._python_function, self._name = python_function, name
        self._input_signature = _checked_signature(input_signature)
        self._autograph, self._jit_compile, self._reduce_retracing = autograph, jit_compile, reduce_retracing
        self._implements, self._autograph_options = experimental_implements, experimental_autograph_options
        self._attributes = dict(experimental_attributes or {})
        for key in self._attributes:
            if key not in _ATTRIBUTES:
                raise ValueError(f"`{key} is not supported by tf.function as an attribute.")
        self._spec = sig.FunctionSpec(python_function, self._input_signature, name, jit_compile)
        self._bound = {}  # id of an instance -> (weak reference, its function)
        self._start()
        if inspect.isfunction(python_function) or hasattr(python_function, "__name__"):
            functools.update_wrapper(self, python_function, updated=())
        for key, value in getattr(
            python_function, "__dict__", {}
        ).items():  # what the callable has is asked of the function
            self.__dict__.setdefault(key, value)
        self.__doc__ = self.__doc__ or ""
        self.__wrapped__ = python_function

    def _start(self):
        self._lock = fork.recursive_lock()
        self._traces = {}  # (device, Types) -> ConcreteFunction, in the order of tracing
        self._made_variables = None  # unknown before the first call
        self._tracing_count = 0
        self._history = retracing.History()
        self._forget()

    # ---- what it is

    @property
    def name(self):
        return self._name

    @property
    def python_function(self):
        return self._python_function

    @property
    def input_signature(self):
        return self._spec.input_signature

    @property
    def function_spec(self):
        return self._spec

    @property
    def function_type(self):
        return self._spec.function_type

    @property
    def _concrete_variable_creation_fn(self):
        """The first trace; an AttributeError before it, as in TensorFlow."""
        for first in self._traces.values():
            return first
        raise AttributeError("_concrete_variable_creation_fn")

    @property
    def _run_functions_eagerly(self):
        return functions_run_eagerly()

    def experimental_get_tracing_count(self):
        """How often the function was traced."""
        return self._tracing_count

    def pretty_printed_concrete_signatures(self, verbose=True):
        """The signatures of all traces, as text."""
        joiner = "\n\n" if verbose else "\n"
        return joiner.join(f.pretty_printed_signature(verbose) for f in self._list_all_concrete_functions())

    def _list_all_concrete_functions(self):
        return list(self._traces.values())

    def _list_all_concrete_functions_for_serialization(self):
        if self._input_signature is not None:
            self.get_concrete_function()
        return self._list_all_concrete_functions()

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        if save_type == "checkpoint":
            return {}
        return {f"trace_{i}": f for i, f in enumerate(self._list_all_concrete_functions_for_serialization())}

    def __tf_tracing_type__(self, context):
        return trace_type.Weakref(self)

    # ---- calls

    def _call_slow(self, *args, **kwargs):
        if functions_run_eagerly():
            return self._python_function(*args, **kwargs)
        concrete, tensors = self._concrete_for(args, kwargs, calling=True)
        if not _weft.in_graph() and not _weft.scoped_device():
            self._teach(concrete, args, kwargs, tensors)
        return concrete._call_tensors(tensors)

    def _teach(self, concrete, args, kwargs, tensors):
        """Calls like this one need no Python from now on."""
        names = concrete._types.names
        if concrete._closures is not None:
            return
        if len(args) <= len(names) and all(k in names for k in kwargs):
            order = [names[i] for i in concrete._types.order]
            parameters = [*range(len(args)), *(order.index(k) for k in kwargs)]
            self._remember(args, kwargs, concrete._native, concrete._structure, concrete._builder, parameters, tensors)

    def get_concrete_function(self, *args, **kwargs):
        """The trace for these arguments, which may be TensorSpecs."""
        return self._concrete_for(args, kwargs, calling=False)[0]

    _get_concrete_function_garbage_collected = get_concrete_function

    def _concrete_for(self, args, kwargs, calling):
        """The trace for a call, with the call's tensors."""
        spec = self._spec
        if spec.fixed is not None:
            if not calling and not args and not kwargs:
                types, values = self._fixed_types(), None
            else:
                types = self._fixed_types()
                values = self._bind_fixed(types, args, kwargs)
        else:
            bound = spec.bind(args, kwargs)
            types = spec.types_of(bound)
            values = [v for _, _, v in bound]
        device = _weft.scoped_device()
        if save_context.in_save_context() and "weft._src.distribute.variable" in sys.modules:
            device += " saving"  # distributed variables are other variables then
        found = self._traces.get((device, types)) or self._wider(device, types)
        if found is not None and self._made_variables is not None:
            if calling:
                self._history.pending += 1
        else:
            with self._lock:
                found = self._traces.get((device, types)) or self._wider(device, types)
                if found is None:
                    found = self._trace_new(device, types, values)
                    if calling:
                        self._history.traced(self, self._take_calls())
        if values is None or not calling:
            return found, None
        traced = found._types
        if traced is not types or spec.fixed is None:
            values = [t.cast(v) for t, v in zip(traced.types, values)]
        return found, traced.flatten(values)

    def _fixed_types(self):
        types = self.__dict__.get("_types")
        if types is None:
            types = self._types = sig.Types(self._spec.fixed)
        return types

    def _bind_fixed(self, types, args, kwargs):
        bound = self._spec.bind(args, kwargs)
        values = dict((n, v) for n, _, v in bound)
        extra = [n for n in values if n not in types.names]
        missing = [n for n in types.names if n not in values]
        if extra or missing:
            text = f"missing a required argument: '{missing[0]}'" if missing else "too many positional arguments"
            if not missing and extra[0] in kwargs:
                text = f"got an unexpected keyword argument '{extra[0]}'"
            raise sig.bind_error(text, args, kwargs, self._spec.function_type)
        try:
            return [t.cast(values[n]) for n, t in zip(types.names, types.types)]
        except Exception as e:
            raise sig.bind_error(e, args, kwargs, self._spec.function_type) from e

    def _wider(self, device, types):
        """The narrowest trace that takes arguments of these types."""
        best = None
        for (where, known), f in list(self._traces.items()):
            if where == device and types.is_subtype_of(known) and (best is None or known.is_subtype_of(best._types)):
                best = f
        return best

    def _trace_new(self, device, types, values):
        if self._reduce_retracing:
            for where, known in reversed(list(self._traces)):
                wider = types.common(known) if where == device else None
                if wider is not None:
                    types = wider
                    break
        if self._made_variables is None:
            concrete, created = self._trace(types, may_create=True)
            if created:
                # TensorFlow traces once more: what made variables is not what is called.
                self._made_variables = True
                _initialize_late(concrete, types, values)
                concrete, _ = self._trace(types, may_create=False)
            else:
                self._made_variables = False
        elif self._made_variables:
            concrete, _ = self._trace(types, may_create=False)
        else:
            concrete, created = self._trace(types, may_create=True)
            if created:
                raise ValueError("Creating variables on a non-first call to a function decorated with tf.function.")
        self._traces[device, types] = concrete
        concrete._owner = weakref.ref(self)
        return concrete

    def _trace(self, types, may_create):
        made = trace(
            self._tracing_function(),
            types,
            self._name,
            self._spec,
            may_create,
            self._jit_compile,
            self._python_function,
            self._all_attributes(),
        )
        self._tracing_count += 1
        return made

    def _all_attributes(self):
        attributes = dict(self._attributes)
        if self._implements is not None:
            attributes["_implements"] = self._implements
        return attributes

    def _tracing_function(self):
        function = self._python_function
        if not self._autograph:
            return _without_autograph(function)
        from weft._src import autograph

        made = self.__dict__.get("_converted")
        if made is None:
            made = self._converted = autograph.convert_for_tracing(
                function, user_requested=True, optional_features=self._autograph_options
            )
        return made

    def experimental_get_compiler_ir(self, *args, **kwargs):
        """TensorFlow shows XLA's code here; the engine has its own compiler."""
        if not self._jit_compile:
            raise ValueError("Compiler IR can only be returned for functions marked with 'jit_compile=True'")
        raise NotImplementedError("experimental_get_compiler_ir: weft has a compiler of its own and no HLO to show")

    # ---- methods and copies

    def _bind(self, instance):
        """The function of an instance, for the base class; kept as long as the instance lives."""
        if getattr(type(instance), "_is_composite", False):
            # A value of several tensors is an argument like any other. It keeps the method, as the base class asks for.
            return instance.__dict__.setdefault("_tf_methods", {}).setdefault(id(self), MethodType(self, instance))
        key = id(instance)
        found = self._bound.get(key)
        if found is not None and found[0]() is instance:
            return found[1]
        made = self._bind_to(instance)
        try:
            known = self._bound
            self._bound[key] = weakref.ref(instance, lambda _: known.pop(key, None)), made
        except TypeError:
            pass
        return made

    def _bind_to(self, instance):
        return self._like(_weak_method(self._python_function, instance), self._name)

    def _like(self, python_function, name):
        return type(self)(
            python_function,
            name,
            self._input_signature,
            self._autograph,
            self._jit_compile,
            self._reduce_retracing,
            self._implements,
            self._autograph_options,
            self._attributes,
        )

    def _clone(self, python_function):
        """The same options with another Python function (or this one's), untraced."""
        return self._like(python_function or self._python_function, self._name)

    def _decorate(self, decorator):
        if self._traces:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        self._python_function = decorator(self._python_function)
        self._spec = sig.FunctionSpec(self._python_function, self._input_signature, self._name, self._jit_compile)

    def __copy__(self):
        return self._clone(None)

    def __deepcopy__(self, memo):
        if self._traces:
            raise TypeError("cannot pickle 'FuncGraph' object")
        return self._clone(None)

    def __reduce__(self):
        return _remake, (
            self._python_function,
            self._name,
            self._input_signature,
            self._autograph,
            self._jit_compile,
            self._reduce_retracing,
            self._implements,
            self._autograph_options,
            self._attributes,
        )


def _remake(*options):
    return Function(*options)


def _weak_method(function, instance):
    """The function with its first argument given; the instance is not kept alive by it."""
    ref = weakref.ref(instance) if _can_be_weak(instance) else lambda: instance
    parameters = list(sig.signature_of(function).parameters.values())
    # `def f(*args)` takes self there.
    rest = parameters if parameters and parameters[0].kind is inspect.Parameter.VAR_POSITIONAL else parameters[1:]

    @functools.wraps(function)
    def method(*args, **kwargs):
        owner = ref()
        if owner is None:
            raise ReferenceError("the object whose method this function is, is gone")
        return function(owner, *args, **kwargs)

    method.__signature__ = inspect.Signature(rest)
    method._weft_method = (function, ref)
    return method


def _can_be_weak(instance):
    try:
        weakref.ref(instance)
    except TypeError:
        return False
    return True


def _without_autograph(function):
    from weft._src.autograph.context import ControlStatusCtx, Status

    def plain(*args, **kwargs):
        with ControlStatusCtx(Status.UNSPECIFIED):
            return function(*args, **kwargs)

    return plain


def _checked_signature(given):
    if given is None:
        return None
    if not isinstance(given, (tuple, list)):
        raise TypeError(f"input_signature must be either a tuple or a list, got {type(given)}.")
    from weft._src.framework.type_spec import TypeSpec

    leaves = nest.flatten(given)
    if not all(isinstance(s, (TypeSpec, trace_type.Variable)) for s in leaves):
        bad = [s for s in leaves if not isinstance(s, (TypeSpec, trace_type.Variable))]
        raise TypeError(
            f"input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args {bad} with types "
            f"{[type(s) for s in bad]}."
        )
    return tuple(given)


# ---- tracing ---------------------------------------------------------------------------------------------


def _initialize_late(concrete, types, values):
    """First values of variables that the trace made, where they depend on the arguments of the call."""
    late = concrete.graph.__dict__.pop("_late_values", ())
    if not late:
        return
    if values is None or _weft.in_graph():
        raise ValueError(
            "Tensor-typed variable initializers must either be wrapped in an init_scope or callable (e.g., `tf.Variable(lambda : tf.truncated_normal([10, "
            "40]))`) when building functions. Please file a feature request if this restriction inconveniences you."
        )
    tensors = [
        t.handle if isinstance(t, _weft.VariableBase) else t
        for t in types.flatten([t.cast(v) for t, v in zip(types.types, values)])
    ]
    for variable, value in late:
        variable.assign(concrete.graph._native.lift(value, tensors), read_value=False)


def trace(function, types, name, spec=None, may_create=False, jit_compile=None, shown=None, attributes=None):
    """(ConcreteFunction, whether variables were made): runs the function on placeholders of these types."""
    graph = FuncGraph(name)
    native = graph._native
    native.may_create_variables = may_create
    if jit_compile:
        native.must_compile = True
    outer = _weft.current_graph() if _weft.in_graph() else None
    graph._around = outer  # the engine's graphs do not hold those around them
    inputs, variables = [], {}

    def take(parameter, wanted):
        if isinstance(wanted, trace_type.Variable) and wanted.alias in variables:
            return variables[wanted.alias]  # passed twice: one argument
        base = sig.argument_name(wanted.name, parameter)
        unique = native.unique_name(base, True)
        if isinstance(wanted, trace_type.Variable):
            from weft._src.function.variable_argument import argument

            handle, value = argument(graph, unique, wanted)
            inputs.append(handle)
            if wanted.alias is not None:
                variables[wanted.alias] = value
            return value
        made = native.add_argument(unique, wanted.dtype, wanted.shape)
        inputs.append(made)
        return made

    with graph.as_default():
        args, kwargs = types.placeholders(take)
        before, given = native.variables_created, _copied((args, kwargs))
        results = function(*args, **kwargs)
        if not _same((args, kwargs), given):
            raise _modified(shown or function, (args, kwargs), given)
        structure, flat = _as_outputs(results, graph, shown or function)
        created = native.variables_created > before
        made = _weft.ConcreteFunction.make(native, flat)
    op_stacks.functions[made.name] = graph
    graph.inputs = inputs + [inner for _, inner in native.captures()]
    graph.outputs = _results(native, made, len(flat))
    graph.structured_outputs = _with(structure, graph.outputs)
    _show_order(graph)
    concrete = ConcreteFunction(made, graph, types, graph.structured_outputs, spec, shown, attributes)
    if attributes and "api_implements" in attributes:
        from weft._src.function import implementations

        implementations.note(concrete, outer)
    return concrete, created


def _copied(value):
    """The same leaves in new lists and dicts."""
    if isinstance(value, (list, tuple)):
        return [_copied(v) for v in value]
    return {k: _copied(v) for k, v in value.items()} if isinstance(value, dict) else value


def _same(value, copied):
    """Whether a structure still has the leaves of its copy."""
    if isinstance(value, (list, tuple)):
        return isinstance(copied, (list, tuple)) and len(value) == len(copied) and all(map(_same, value, copied))
    if isinstance(value, dict):
        return (
            isinstance(copied, dict)
            and value.keys() == copied.keys()
            and all(_same(v, copied[k]) for k, v in value.items())
        )
    plain = (int, float, str, bytes)
    return value is copied or (isinstance(value, plain) and isinstance(copied, plain) and value == copied)


def _modified(function, now, given):
    """What a function gets in place of its arguments must stay as it is."""
    signature = inspect.signature(function)
    (args, kwargs), (old_args, old_kwargs) = now, given
    new, old = signature.bind(*args, **kwargs).arguments, signature.bind(*old_args, **old_kwargs).arguments
    names = ", ".join(n for n, v in new.items() if not _same(v, old[n]))
    return ValueError(
        f"{getattr(function, '__qualname__', function)}{signature} should not modify its Python input arguments. Modifying a copy is allowed. "
        f"The following parameter(s) were modified: {names}"
    )


def _results(native, made, count):
    """The identities at the end of the graph, which are its results."""
    nodes = native.nodes()[-count:] if count else []
    return [native.tensor(n, 0) for n in nodes]


def _show_order(graph):
    """The node that TensorFlow lets results wait for, so that all effects have happened: for who looks at the graph; the function was made before."""
    native = graph._native
    waits = sorted({*native.effects(), *native.reads()}, key=native.node_name)
    if not waits:
        return
    with graph.as_default():
        node = raw.NoOp(name=raw.NoOp.op_name)
    for n in waits:
        native.add_control(n, node._id)
    for t in graph.outputs:
        native.add_control(node._id, t.op._id)


def _with(structure, tensors):
    given = iter(tensors)
    if isinstance(structure, Tensor):
        return next(given)
    if structure is None:
        return None
    leaves = [None if t is None else next(given) for t in nest.flatten(structure, expand_composites=True)]
    return nest.pack_sequence_as(structure, leaves, expand_composites=True)


def _as_outputs(results, graph, shown):
    """What a function gave, with everything a tensor of the graph; and the tensors in a row."""
    if type(results).__name__ == "SymbolicTensor":
        return results, [results]
    structure = nest.map_structure(lambda x: _as_output(x, shown), results)
    return structure, [t for t in nest.flatten(structure, expand_composites=True) if t is not None]


def _as_output(x, shown):
    from weft._src.framework.convert import convert_to_tensor

    if x is None:
        return x
    if getattr(type(x), "_is_composite", False):
        if not any(type(t).__name__ == "EagerTensor" for t in nest.flatten(x, expand_composites=True)):
            return x
        return nest.map_structure(convert_to_tensor, x, expand_composites=True)
    if type(x).__name__ == "TensorArray" and isinstance(getattr(x, "flow", None), Tensor):
        return x.flow
    if isinstance(x, Operation) or not (isinstance(x, (Tensor, _weft.VariableBase)) or _convertible(x)):
        raise _bad_output(x, shown)
    try:
        return convert_to_tensor(x)
    except (ValueError, TypeError):
        raise _bad_output(x, shown) from None


def _convertible(x):
    return (
        isinstance(x, (bool, int, float, complex, str, bytes))
        or hasattr(x, "__array__")
        or hasattr(type(x), "__tf_tensor__")
        or hasattr(x, "__index__")
        or isinstance(x, TensorShape)
    )


def _bad_output(x, shown):
    return TypeError(
        "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or None values; in compilation of "
        f"{shown}, found return value of type {type(x).__name__}, which is not a Tensor or ExtensionType."
    )


# ---- the decorator ---------------------------------------------------------------------------------------


def function(
    func=None,
    input_signature=None,
    autograph=True,
    jit_compile=None,
    reduce_retracing=False,
    experimental_implements=None,
    experimental_autograph_options=None,
    experimental_attributes=None,
    experimental_relax_shapes=None,
    experimental_compile=None,
    experimental_follow_type_hints=None,
):
    """Makes a Python function run as graphs, traced once for each signature; also as a decorator, with or without arguments."""
    if jit_compile is None and experimental_compile is not None:
        jit_compile = experimental_compile
    reduce_retracing = bool(reduce_retracing or experimental_relax_shapes)

    def decorated(inner):
        if isinstance(inner, functools.partial) and isinstance(inner.func, Function):
            inner = functools.partial(inner.func.python_function, *inner.args, **inner.keywords)
        if isinstance(inner, (classmethod, staticmethod)):
            return type(inner)(decorated(inner.__func__))
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        name = getattr(inner, "__name__", None) or "function"
        return Function(
            inner,
            name,
            input_signature,
            autograph,
            jit_compile,
            reduce_retracing,
            experimental_implements,
            experimental_autograph_options,
            experimental_attributes,
        )

    return decorated if func is None else decorated(func)
