"""Variables as constants: functions and graphs that need no state any more."""

from weft import _weft
from weft._src.framework import errors
from weft._src.framework.importer import _place
from weft._src.framework.tensor import Tensor
from weft._src.proto import GraphDef


def frozen_graph_def(graph_def, values):
    """A GraphDef with nodes as constants: values by their names. What reads variables among them takes the values, also in functions."""
    try:
        return GraphDef.FromString(_weft.freeze_graph_def(graph_def.SerializeToString(), values))
    except errors.InvalidArgumentError as e:
        raise ValueError(e.message) from None


def _frozen_graph(func):
    """(GraphDef with constants, captures that remain, what holds its functions)"""
    from weft._src.saved_model.load import add_functions, rename_functions

    variables = {v._eager_handle()._identity(): v for v in func.variables}
    values, rest = {}, {}
    for outer, inner in func.graph.captures:
        v = variables.get(outer._identity())
        if v is not None:
            values[inner.op.name] = v.value()
        elif outer.dtype.name in ("resource", "variant"):
            rest[inner.op.name, 0] = outer
        else:
            values[inner.op.name] = outer
    graph_def = frozen_graph_def(func.graph.as_graph_def(), values)
    names, functions = add_functions(graph_def.library)
    for node in graph_def.node:
        rename_functions(node, names)
    graph_def.ClearField("library")
    return graph_def, rest, functions


def convert_variables_to_constants_v2(func, lower_control_flow=True, aggressive_inlining=False):
    """A concrete function with its variables as constants."""
    return convert_variables_to_constants_v2_as_graph(func, lower_control_flow, aggressive_inlining)[0]


def convert_variables_to_constants_v2_as_graph(func, lower_control_flow=True, aggressive_inlining=False):
    """(the frozen function, its GraphDef)"""
    from weft._src.saved_model.graph_functions import function_of_graph

    graph_def, rest, functions = _frozen_graph(func)  # the functions are held until the graph does
    count = func._native.num_arguments
    feeds = [(t.op.name, t.value_index, t.dtype, t.shape, t.op.name) for t in func.graph.inputs[:count]]
    fetches = [(t.op.name, t.value_index) for t in func.graph.outputs]
    native, graph, outputs = function_of_graph(graph_def, "frozen", feeds, fetches, (), rest)
    del functions
    return FrozenFunction(native, graph, outputs), graph.as_graph_def()


class FrozenFunction:
    """What freezing gives: called with tensors in order, or by the names of the inputs."""

    def __init__(self, native, graph, outputs):
        self._native, self._graph, self._outputs = native, graph, outputs

    @property
    def graph(self):
        return self._graph

    @property
    def name(self):
        return self._native.name.encode()

    @property
    def inputs(self):
        return self._graph.inputs

    @property
    def outputs(self):
        return self._outputs

    @property
    def structured_outputs(self):
        return list(self._outputs)

    @property
    def captured_inputs(self):
        return self._native.captures()

    variables = trainable_variables = ()

    def __call__(self, *args, **kwargs):
        from weft._src.framework.convert import convert_to_tensor

        names = [t.op.name for t in self._graph.inputs[: self._native.num_arguments]]
        given = list(args) + [kwargs.pop(n) for n in names[len(args) :] if n in kwargs]
        if kwargs or len(given) != len(names):
            raise TypeError(
                f"frozen({', '.join(names)}) got {len(args)} positional arguments and the keywords {sorted(kwargs)}"
            )
        return self._native(
            [
                g if isinstance(g, Tensor) else convert_to_tensor(g, dtype=t)
                for g, t in zip(given, self._native.arg_types)
            ]
        )


def convert_variables_to_constants_from_session_graph(
    session, graph_def, output_node_names, variable_names_allowlist=None, variable_names_denylist=None
):
    """The part of a session's graph that the outputs need, with variables as constants."""
    from weft._src.compat.v1.graph_util import convert_variables_to_constants

    return convert_variables_to_constants(
        session, graph_def, [_place(n)[0] for n in output_node_names], variable_names_allowlist, variable_names_denylist
    )
