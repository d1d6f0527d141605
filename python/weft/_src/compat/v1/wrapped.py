"""tf.compat.v1.wrap_function: version 1's code as a function."""

import inspect

from weft import _weft
from weft._src.framework import nest
from weft._src.framework.graph import Operation
from weft._src.framework.tensor import Tensor
from weft._src.function import signature as sig, trace_type
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.function import trace
from weft._src.saved_model.load_v1 import PrunedFunction


class WrappedFunction(ConcreteFunction):
    """A trace that holds the variables made in it, and can be cut."""

    def __init__(self, concrete, held):
        super().__init__(
            concrete._native,
            concrete._graph,
            concrete._types,
            concrete._structure,
            concrete._spec,
            concrete._python_function,
        )
        self._held = held

    def __call__(self, *args, **kwargs):
        return super().__call__(*args, **kwargs)

    def prune(self, feeds, fetches, name=None, input_signature=None):
        """A function from some tensors of the graph to others."""
        from weft._src.saved_model.graph_functions import function_of_graph

        feeds = [self._element(f) for f in nest.flatten(feeds, expand_composites=True)]
        flat = [self._element(f) for f in nest.flatten(fetches, expand_composites=True)]
        captures = {}
        variables = {v._eager_handle()._identity(): v for v in self.variables}
        for outer, inner in self.graph.captures:
            captures[inner.op.name, inner.value_index] = variables.get(outer._identity(), outer)
        feeds = [t for t in feeds if (t.op.name, t.value_index) not in captures]  # so that all of `inputs` may be given
        places = [(t.op.name, t.value_index, t.dtype, t.shape, t.op.name) for t in feeds]
        wanted = [(t.op.name, t.value_index) for t in flat if isinstance(t, Tensor)]
        targets = [t.name for t in flat if isinstance(t, Operation)]
        native, graph, _ = function_of_graph(
            self.graph.as_graph_def(), name or "pruned", places, wanted, targets, captures
        )
        made = _Part(native, graph, fetches, flat)
        made._held = self._held
        return made

    def _element(self, item):
        return self.graph.as_graph_element(item) if isinstance(item, str) else item


class _Part(PrunedFunction):
    """What gives the fetches in the structure that they were asked for; None for operations."""

    def __init__(self, native, graph, fetches, flat):
        super().__init__(native, graph, False)
        self._fetches = fetches
        self._given = [isinstance(f, Tensor) for f in flat]

    @property
    def outputs(self):
        return list(self.graph.outputs)[: sum(self._given)]

    @property
    def structured_outputs(self):
        return self._packed(self.outputs)

    def __call__(self, *args):
        return self._packed(super().__call__(*args))

    def _packed(self, values):
        values = iter(values)
        leaves = [next(values) if given else None for given in self._given]
        return nest.pack_sequence_as(self._fetches, leaves, expand_composites=True)


def wrap_function(fn, signature, name=None):
    """Traces fn once; variables that it makes by get_variable or Variable are the function's."""
    from weft._src.compat.v1 import variables
    from weft._src.trackable.variable import variable_creator_scope

    held = []
    state = variables._State()

    def keep(next_creator, **kwargs):
        made = next_creator(**kwargs)
        held.append(made)
        return made

    types = sig.Types(
        (getattr(s, "name", None) or f"args_{i}", inspect.Parameter.POSITIONAL_OR_KEYWORD, trace_type.type_of(s))
        for i, s in enumerate(signature)
    )
    variables._holders.append(state)
    try:
        with variable_creator_scope(keep):
            concrete, _ = trace(fn, types, name or "wrapped_function", may_create=True, shown=fn)
    finally:
        variables._holders.pop()
    known = {id(v) for v in concrete.variables}
    for v in held:
        if isinstance(v, _weft.VariableBase) and v._has_state() and id(v) not in known:
            concrete._native.use_variable(v)
    return WrappedFunction(concrete, held)
