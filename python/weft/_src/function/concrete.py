"""ConcreteFunction: one trace, callable by structure or flat."""

from weft import _weft
from weft._src.framework import nest
from weft._src.framework.graph import executing_eagerly, keep_in_graph
from weft._src.framework.tensor import Tensor
from weft._src.function import signature as sig
from weft._src.function.trace_type import Literal


def _plain_name(name):
    """What the program called the function."""
    prefix, number = name.rpartition("_")[::2]
    return prefix.removeprefix("__inference_") if number[:1].isalnum() and prefix.startswith("__inference_") else name


class ConcreteFunction:
    """A function that was traced for one signature."""

    def __deepcopy__(self, memo):
        raise TypeError("cannot pickle 'FuncGraph' object")

    def __init__(self, native, graph, types, structure, spec=None, python_function=None, attributes=None):
        self._native, self._graph, self._types, self._spec = native, graph, types, spec
        self._structure = structure  # what the function gave, with tensors of the graph
        self._python_function = python_function
        self._attributes = attributes or {}
        self._single = isinstance(structure, Tensor)
        self._garbage_collector = self
        self._flat_names = None
        self._builder = self._build
        self._owner = None  # the Function, weakly
        self._closures = _deferred(graph, native)  # captures, where some are made at each call

    # ---- calls

    def __call__(self, *args, **kwargs):
        types = self._types
        if types is None:
            return self._call_flat_signature(args, kwargs)
        try:
            bound = self._bind(args, kwargs)
            values = [t.cast(v) for t, v in zip(types.types, bound)]
        except Exception as structured:
            if not isinstance(structured, (TypeError, ValueError)):
                raise
            error = sig.bind_error(structured, args, kwargs, self.function_type)
            try:
                return self._call_flat_signature(args, kwargs)
            except TypeError as flat:
                text = f"{error}\nFallback to flat signature also failed due to: {flat}"
                raise TypeError(text) from structured
        return self._call_tensors(types.flatten(values))

    _call_with_structured_signature = _call_impl = lambda self, args, kwargs: self(*args, **kwargs)

    def _call_with_flat_signature(self, args, kwargs):
        return self._call_flat_signature(args, kwargs)

    def _bind(self, args, kwargs):
        """The values of the parameters. Constants may be left out."""
        signature = self.function_type
        if not _same_count(signature, args, kwargs):
            parameters = [
                p.replace(default=p.annotation.value) if _may_be_left_out(p) else p
                for p in _ordered(signature.parameters.values())
            ]
            signature = signature.replace(parameters=parameters)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return [bound.arguments[n] for n in self._types.names]

    def _call_flat_signature(self, args, kwargs):
        names = self._arg_keywords
        name = self._graph.name if self._graph is not None else _plain_name(self.name.decode())
        shown = f"{name}({', '.join(names)})"
        if len(args) > len(names):
            raise TypeError(f"{shown} takes {len(names)} positional arguments, got {len(args)}.")
        args, kwargs = list(args), dict(kwargs)
        for name in names[len(args) :]:
            if name in kwargs:
                args.append(kwargs.pop(name))
            else:
                missing = [n for n in names[len(args) :] if n not in kwargs]
                raise TypeError(f"{shown} missing required arguments: {', '.join(missing)}.")
        for name in kwargs:
            raise TypeError(
                f"{shown} got two values for {name!r}."
                if name in names
                else f"{shown} got unexpected keyword arguments: {', '.join(kwargs)}."
            )
        for i, value in enumerate(args):
            if not isinstance(value, (Tensor, _weft.VariableBase)):
                if hasattr(value, "__array__") and not isinstance(value, (list, tuple)):
                    from weft._src.framework.convert import convert_to_tensor

                    args[i] = convert_to_tensor(value)
                else:
                    raise TypeError(
                        f"{shown}: expected argument #{i}(zero-based) to be a Tensor; got {type(value).__name__} ({value})."
                    )
        if executing_eagerly():
            for i, value in enumerate(args):
                if isinstance(value, _weft.VariableBase):
                    raise TypeError(
                        "provided list of inputs contains objects other than 'EagerTensor'. "
                        f"Item {i} is type: {type(value).__name__}"
                    )
        return self._call_tensors(args)

    def _call_tensors(self, tensors):
        for i, t in enumerate(tensors):
            if isinstance(t, _weft.VariableBase):
                t._accessed()
                tensors[i] = t.handle
        if self._closures is not None:
            self._native.set_captures(self.captured_inputs)
        if self._graph is not None:
            keep_in_graph(self._graph)
        return self._build(self._native(tensors))

    def _call_flat(self, tensor_inputs, captured_inputs=None):
        """With tensors for the arguments, and for the captures where they are not the function's own."""
        own = self.captured_inputs
        if captured_inputs is None or all(a is b for a, b in zip(own, captured_inputs)):
            return self._call_tensors(list(tensor_inputs))
        given = nest.flatten(
            [c() if callable(c) and not isinstance(c, Tensor) else c for c in captured_inputs], expand_composites=True
        )
        return self._build(_weft.ConcreteFunction.of_library(self._native.name, given)(list(tensor_inputs)))

    def _build(self, tensors):
        if self._single:
            return tensors[0]
        if self._structure is None:
            return None
        return nest.pack_sequence_as(self._structure, self._spread(tensors), expand_composites=True)

    def _spread(self, tensors):
        given = iter(tensors)
        return [None if t is None else next(given) for t in nest.flatten(self._structure, expand_composites=True)]

    # ---- facts

    @property
    def name(self):
        return self._native.name.encode()

    @property
    def graph(self):
        return self._graph

    @property
    def inputs(self):
        return self._graph.inputs

    @property
    def outputs(self):
        return self._graph.outputs

    @property
    def structured_outputs(self):
        return self._structure

    @property
    def structured_input_signature(self):
        return None if self._types is None else self._types.structured()

    @property
    def captured_inputs(self):
        if self._closures is None:
            return self._native.captures()
        now = [c() if callable(c) and not isinstance(c, Tensor) else c for c in self._closures]
        return nest.flatten(now, expand_composites=True)

    @property
    def _captured_inputs(self):
        return self.captured_inputs if self._closures is None else self._closures

    @property
    def inference_fn(self):
        """The function by itself: see AtomicFunction."""
        made = self.__dict__.get("_atomic")
        if made is None:
            from weft._src.function.atomic import AtomicFunction

            made = self._atomic = AtomicFunction(self)
        return made

    _inference_function = inference_fn

    @property
    def _func_graph(self):
        return self.graph

    @property
    def _function_spec(self):
        return self._spec

    @property
    def _attrs(self):
        return self._attributes

    @property
    def _output_shapes(self):
        return tuple(t.shape for t in self.outputs)

    @property
    def _as_name_attr_list(self):
        from weft._src.proto import NameAttrList

        return NameAttrList(name=self.name.decode())

    def set_variables(self, variables):
        """Which variables tapes watch at a call: held as long as this."""
        self._held = tuple(variables)
        for v in self._held:
            self._native.use_variable(v)

    @property
    def variables(self):
        return tuple(self._native.variables())

    @property
    def trainable_variables(self):
        return tuple(v for v in self.variables if v.trainable)

    @property
    def output_shapes(self):
        return nest.map_structure(lambda t: getattr(t, "shape", None), self._structure, expand_composites=False)

    @property
    def output_dtypes(self):
        return nest.map_structure(lambda t: getattr(t, "dtype", None), self._structure, expand_composites=False)

    @property
    def function_type(self):
        made = self.__dict__.get("_function_type")
        if made is None:
            from weft._src.framework.type_spec import TensorSpec

            captures = {id(t): TensorSpec(t.shape, t.dtype) for t in self.captured_inputs}
            made = self._function_type = self._types.function_type(sig.output_type(self._structure), captures)
        return made

    @property
    def function_spec(self):
        return self._spec

    @property
    def function_def(self):
        from weft._src.proto import FunctionDef

        made = FunctionDef.FromString(self._native.function_def())
        for key, value in {"_construction_context": "kEagerRuntime", **self._attributes}.items():
            attr = made.attr[key]
            if isinstance(value, bool):
                attr.b = value
            elif isinstance(value, int):
                attr.i = value
            elif isinstance(value, float):
                attr.f = value
            else:
                attr.s = value if isinstance(value, bytes) else str(value).encode()
        return made

    @property
    def _arg_keywords(self):
        if self._flat_names is None:
            self._flat_names = [t.op.name for t in self._graph.inputs[: self._native.num_arguments]]
        return self._flat_names

    @_arg_keywords.setter
    def _arg_keywords(self, names):
        self._flat_names = list(names)

    @property
    def _num_positional_args(self):
        return len(self._arg_keywords)

    def set_external_captures(self, captures):
        """Other values for the captures, of the same types; functions give a value at each call."""
        captures = list(captures)
        if any(callable(c) and not isinstance(c, Tensor) for c in captures):
            self._closures = captures
            if self._owner is not None and self._owner() is not None:
                self._owner()._forget()
            return
        self._closures = None
        self._native.set_captures([c.handle if isinstance(c, _weft.VariableBase) else c for c in captures])
        self.__dict__.pop("_function_type", None)

    def replace_capture_with_deferred_capture(self, tensor, closure, spec, placeholder=None, default_value=None):
        """From now on closure() gives the value of one capture at each call."""
        captures = list(self._captured_inputs)
        at = next(
            (i for i, c in enumerate(captures) if isinstance(c, Tensor) and c._identity() == tensor._identity()), None
        )
        if placeholder is None:
            if at is None:
                raise ValueError(
                    f"Did not find `tensor` argument {tensor} in the ConcreteFunction's captured inputs list, and did not receive a placeholder "
                    "argument. Thus we're unable to infer the internal placeholder. "
                )
            placeholder = self.inputs[at - len(captures)]
        if not (spec.is_compatible_with(tensor) or spec.is_compatible_with(placeholder)):
            raise ValueError(
                f"Attempting to substitute closure with spec {spec} that's incompatible with the original capture {tensor} or the internal "
                f"placeholder {placeholder}."
            )
        if at is not None:
            captures[at] = closure
            self.set_external_captures(captures)

    def add_to_graph(self, g=None, overwrite=False):
        """The function is in the library of the graph (or of the one that is being built) from now on."""
        g = _weft.current_graph() if g is None and _weft.in_graph() else g
        if g is not None:
            g._add_function(self)
            if "api_implements" in self._attributes:
                from weft._src.function import implementations

                implementations.take_over(g, self)

    def add_gradient_functions_to_graph(self, g=None):
        """The engine makes gradients of functions when they are asked for: nothing to add."""

    def _flat_signature_summary(self):
        return f"{self._graph.name}({', '.join(self._arg_keywords)})"

    def pretty_printed_signature(self, verbose=True):
        return sig.pretty(self.function_type) if verbose else str(self.function_type)

    def __repr__(self):
        return f"<ConcreteFunction {self.function_type} at 0x{id(self):X}>"

    def __str__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __tf_tracing_type__(self, context):
        from weft._src.function.trace_type import Weakref

        return Weakref(self)


def _deferred(graph, native):
    """The captures of a trace, with functions for those that are made at each call; None where there are none such."""
    deferred = getattr(graph, "_deferred", None)
    if not deferred:
        return None
    captures = native.captures()
    by_identity = {now[0]._identity(): (closure, len(now)) for closure, now, _ in deferred.values() if now}
    out, skip = [], 0
    for tensor in captures:
        if skip:
            skip -= 1
            continue
        closure, count = by_identity.get(tensor._identity(), (tensor, 1))
        out.append(closure)
        skip = count - 1
    return out


def _same_count(signature, args, kwargs):
    return len(args) + len(kwargs) == len(signature.parameters)


def _may_be_left_out(p):
    return isinstance(p.annotation, Literal) and p.kind is not p.POSITIONAL_ONLY


def _ordered(parameters):
    """Parameters of which those behind one with a default have one, too: what a signature asks for."""
    seen = False
    for p in parameters:
        constant = _may_be_left_out(p)
        if p.kind is p.POSITIONAL_OR_KEYWORD:
            if seen and not constant:
                p = p.replace(kind=p.KEYWORD_ONLY)
            seen = seen or constant
        yield p
