"""AtomicFunction: a traced function without its captures, called with all arguments flat."""

from weft import _weft


class AtomicFunction:
    """The engine's function behind a ConcreteFunction (its `inference_fn`). Tapes do not hear of calls."""

    def __init__(self, concrete):
        self._concrete = concrete
        self._flat = None  # the function of the engine, with captures as arguments

    @property
    def name(self):
        return self._concrete.name

    @property
    def function_type(self):
        return self._concrete.function_type

    @property
    def graph(self):
        return self._concrete.graph

    @property
    def definition(self):
        return self._concrete.function_def

    cached_definition = definition

    @property
    def attributes(self):
        attributes = self.definition.attr
        attributes.pop("_construction_context", None)
        return attributes

    @property
    def children(self):
        """The functions that this one names."""
        from weft._src.proto import FunctionDefLibrary

        own = self.name.decode()
        library = FunctionDefLibrary.FromString(self._concrete._native.library_def())
        return [of_library(f.signature.name) for f in library.function if f.signature.name != own]

    def call_flat(self, *args):
        """Flat tensors in, those of the captures last; flat tensors out."""
        native = self._concrete._native
        expected = native.num_arguments + len(native.captures())
        if len(args) != expected:
            raise ValueError(
                f"Signature specifies {expected} arguments, got: {len(args)}. Expected inputs: {list(self.cached_definition.signature.input_arg)}. "
                f"Received inputs: {args}. Function Type: {self.function_type!r}"
            )
        if self._flat is None:
            self._flat = _weft.ConcreteFunction.of_library(native.name, [])
        _weft.pause_tapes()
        try:
            outputs = self._flat([a.handle if isinstance(a, _weft.VariableBase) else a for a in args])
        finally:
            _weft.resume_tapes()
        if _weft.in_graph():
            for tensor, shape in zip(outputs, native.ret_shapes):
                tensor.set_shape(shape)
        return outputs

    def call_preflattened(self, args):
        """Flat tensors in, what the Python function gave out."""
        return self._concrete._build(self.call_flat(*args))

    def call_with_captures(self, args, kwargs, captures):
        bound = self.function_type.bind(*args, **kwargs)
        types = self._concrete._types
        return self.call_preflattened(types.flatten([bound.arguments[n] for n in types.names]) + list(captures))

    def __call__(self, *args, **kwargs):
        if self.function_type.captures:
            raise ValueError("The FunctionType defines captured inputs. Use call_with_captures instead.")
        return self.call_with_captures(args, kwargs, [])

    def __str__(self):
        return f"<AtomicFunction> {self.name.decode()}{self.function_type}"

    def __repr__(self):
        return f"AtomicFunction(name={self.name},\nfunction_type={self.function_type!r},\nchildren={self.children!s})"


def of_library(name):
    """A function that only the engine knows."""
    from weft._src.function.concrete import ConcreteFunction

    return AtomicFunction(ConcreteFunction(_weft.ConcreteFunction.of_library(name, []), None, None, None))
