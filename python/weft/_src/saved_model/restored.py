"""Functions that a SavedModel had: traces of the engine's library, and what calls the one that fits."""

import inspect
import pprint

from weft import _weft
from weft._src.framework import nest
from weft._src.framework.tensor import Tensor
from weft._src.framework.type_spec import TensorSpec
from weft._src.function import signature as sig, trace_type
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.function import Function
from weft._src.saved_model import function_specs, structured


class RestoredConcreteFunction(ConcreteFunction):
    """One trace. Its graph is made when it is asked for."""

    def __init__(self, native, types, structure, variables, keywords, positional, spec=None):
        super().__init__(native, None, types, structure, spec)
        self._single = isinstance(structure, TensorSpec)
        self._flat_names, self._positional = list(keywords), positional
        self._held = variables  # the engine knows them weakly

    def _build(self, tensors):
        if _weft.in_graph():  # the library's functions do not tell the shapes
            specs = [s for s in nest.flatten(self._structure, expand_composites=True) if isinstance(s, TensorSpec)]
            for tensor, spec in zip(tensors, specs):
                tensor.set_shape(spec.shape)
        return super()._build(tensors)

    @property
    def graph(self):
        if self._graph is None:
            from weft._src.saved_model.function_graph import graph_of_function

            self._graph = graph_of_function(self)
        return self._graph

    def _graph_name(self):
        import re

        return re.sub(r"_l?\d+$", "", self.name.decode()).removeprefix("__inference_")

    @property
    def inputs(self):
        return self.graph.inputs

    @property
    def outputs(self):
        return self.graph.outputs

    @property
    def function_type(self):
        made = self.__dict__.get("_function_type")
        if made is None:
            made = self._function_type = self._types.function_type(sig.output_type(self._structure), {})
        return made

    @property
    def _num_positional_args(self):
        return self._positional

    def pretty_printed_signature(self, verbose=True):
        return sig.pretty(self.function_type) if verbose else str(self.function_type)


class DistributedConcreteFunction(RestoredConcreteFunction):
    """One trace that was loaded in the scope of a strategy: each replica's calls use its own copies of the variables."""

    @property
    def _native(self):
        from weft._src.distribute.context import current_replica_id

        return self._natives[current_replica_id() or 0]

    @_native.setter
    def _native(self, natives):
        self._natives = natives


def types_of(canonical, arg_spec):
    """The types of a trace's parameters, from its (args, kwargs) and the parameters of the function that it is of."""
    args, kwargs = canonical
    names = list(arg_spec.args)
    extra = bool(arg_spec.varargs) or len(args) > len(names)
    parameters = []
    context = trace_type.Context()
    for i, value in enumerate(args):
        name = names[i] if i < len(names) else f"{arg_spec.varargs or 'args'}_{i - len(names)}"
        kind = inspect.Parameter.POSITIONAL_ONLY if extra else inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append((name, kind, trace_type.type_of(value, context)))
    for name in sorted(kwargs):
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if name in names else inspect.Parameter.KEYWORD_ONLY
        parameters.append((name, kind, trace_type.type_of(kwargs[name], context)))
    return sig.Types(parameters)


def arg_spec_of(saved):
    """The FullArgSpec of what is saved of a function: (parameters, input signature, whether it is a method, whether it is compiled)."""
    spec = function_specs.FullArgSpec(*structured.value_of(saved[0]))
    if saved[2]:
        spec = spec._replace(args=spec.args[1:])
    return spec


def keywords_of(canonical):
    """Names for the tensors of (args, kwargs)."""
    out = []
    for value in nest.flatten(canonical, expand_composites=True):
        if isinstance(value, TensorSpec):
            out.append(value.name or f"arg_{len(out)}")
    return out


class RestoredFunction(Function):
    """A function with the traces that were saved. No new ones can be made."""

    _restored = True

    def __init__(self, name, saved, concrete_functions):
        arg_spec = arg_spec_of(saved)

        def restored_function(*args, **kwargs):
            return self(*args, **kwargs)

        restored_function.__signature__ = function_specs.signature_of(arg_spec)
        restored_function.__name__ = restored_function.__qualname__ = name
        super().__init__(restored_function, name, None, autograph=False, jit_compile={1: True, 2: False}.get(saved[3]))
        self._saved_signature = structured.value_of(saved[1])
        self._spec.input_signature = self._saved_signature
        self._concretes = list(concrete_functions)
        for f in self._concretes:
            f._spec = self._spec

    @property
    def input_signature(self):
        return self._saved_signature

    def _list_all_concrete_functions(self):
        return list(self._concretes)

    def _list_all_concrete_functions_for_serialization(self):
        return list(self._concretes)

    @property
    def concrete_functions(self):
        return list(self._concretes)

    def experimental_get_tracing_count(self):
        return len(self._concretes)

    def _concrete_for(self, args, kwargs, calling):
        if not self._concretes:
            raise ValueError("Found zero restored functions for caller function.")
        if not calling and not args and not kwargs and len(self._concretes) == 1:
            return self._concretes[0], None
        bound = self._spec.bind(args, kwargs)
        types = self._spec.types_of(bound)
        for f in self._concretes:  # as they are
            if types.is_subtype_of(f._types):
                return self._with_values(f, bound, calling)
        for f in self._concretes:  # converted to what a trace takes
            if f._types.names == tuple(n for n, _, _ in bound):
                try:
                    return self._with_values(f, bound, calling)
                except (TypeError, ValueError):
                    continue
        if self._saved_signature is not None:
            only = self._concretes[0]
            try:
                self._with_values(only, bound, True)
            except (TypeError, ValueError) as e:
                raise sig.bind_error(e, args, kwargs, only.function_type) from e
        raise ValueError(self._no_match(args, kwargs))

    @staticmethod
    def _with_values(f, bound, calling):
        if not calling:
            return f, None
        return f, f._types.flatten([t.cast(v) for t, (_, _, v) in zip(f._types.types, bound)])

    def _no_match(self, args, kwargs):
        def shown(args, kwargs):
            items = "\n    * ".join(pprint.pformat(a) for a in args)
            return f"Positional arguments ({len(args)} total):\n    * {items}\n  Keyword arguments: {kwargs}"

        options = [f"Option {i + 1}:\n  {shown(*f.structured_input_signature)}" for i, f in enumerate(self._concretes)]
        return (
            f"Could not find matching concrete function to call loaded from the SavedModel. Got:\n  {shown(*self._canonical(args, kwargs))}\n\n Expected these "
            f"arguments to match one of the following {len(options)} option(s):\n\n" + "\n\n".join(options)
        )

    def _canonical(self, args, kwargs):
        """(args, kwargs) by the parameters; tensors as the arguments of a trace."""

        def seen(name, value):
            return (
                _Shown(f"<tf.Tensor '{name}:0' shape={value.shape} dtype={value.dtype.name}>")
                if isinstance(value, Tensor)
                else value
            )

        only = inspect.Parameter.KEYWORD_ONLY
        bound = self._spec.bind(args, kwargs)
        return tuple(seen(n, v) for n, k, v in bound if k is not only), {
            n: seen(n, v) for n, k, v in bound if k is only
        }


class _Shown:
    """A text in the place of a value."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text
