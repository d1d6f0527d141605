"""Variables as constants: functions and graphs that need no state any more."""

from weft import _weft
from weft.framework.importer import _place
from weft.framework.tensor import Tensor
from weft.proto import FunctionDef, GraphDef
from weft.proto.tensors import make_tensor_proto

CALLS = {
    "PartitionedCall": (0, ("f",), "Tin"),
    "StatefulPartitionedCall": (0, ("f",), "Tin"),
    "If": (1, ("then_branch", "else_branch"), "Tin"),
    "StatelessIf": (1, ("then_branch", "else_branch"), "Tin"),
    "Case": (1, ("branches",), "Tin"),
    "StatelessCase": (1, ("branches",), "Tin"),
    "While": (0, ("cond", "body"), "T"),
    "StatelessWhile": (0, ("cond", "body"), "T"),
}


class _Frozen:
    """Rewrites nodes whose handles became values, in graphs and in the functions that they call."""

    def __init__(self, library):
        self.library = {f.signature.name: f for f in library.function}
        self.renamed = {}
        self.made = {}  # (function, arguments that are values) -> the name of its copy

    def nodes(self, nodes, values, in_function):
        """Changes the nodes in place. values: input text -> dtype, of handles that are values now. Gives nodes that were added."""
        added, renamed = [], {}
        for node in nodes:
            hits = {i: values[t] for i, t in enumerate(node.input) if t in values}
            if not hits:
                continue
            if node.op == "ReadVariableOp":
                self._become(node, "Identity", T=hits[0])
                if in_function:  # where outputs are told by name
                    renamed[f"{node.name}:value:0"] = f"{node.name}:output:0"
            elif node.op == "Identity":
                node.attr["T"].type = hits[0]
                values[f"{node.name}:output:0" if in_function else node.name] = hits[0]
            elif node.op == "ResourceGather":
                self._gather(node, hits[0], added, in_function)
            elif node.op in CALLS:
                self._call(node, hits)
            else:
                raise ValueError(
                    f"Cannot convert the variable that {node.name} uses to a constant: the op {node.op} needs the variable itself."
                )
        for node in nodes if renamed else ():
            for i, text in enumerate(node.input):
                if text in renamed:
                    node.input[i] = renamed[text]
        self.renamed = renamed
        return added

    @staticmethod
    def _become(node, op, **types):
        node.op = op
        for key in [k for k in node.attr if not k.startswith("_")]:
            del node.attr[key]
        node.attr.pop("_output_shapes", None)
        for key, value in types.items():
            node.attr[key].type = value

    def _gather(self, node, dtype, added, in_function):
        from weft.proto import NodeDef

        batch, indices = node.attr["batch_dims"].i, node.attr["Tindices"].type
        axis = NodeDef(name=node.name + "_axis", op="Const")
        axis.attr["dtype"].type = 3
        axis.attr["value"].tensor.CopyFrom(make_tensor_proto(batch, dtype=3))
        added.append(axis)
        self._become(node, "GatherV2", Tparams=dtype, Tindices=indices, Taxis=3)
        node.attr["batch_dims"].i = batch
        node.input.insert(2, axis.name + ":output:0" if in_function else axis.name)

    def _call(self, node, hits):
        first, functions, types = CALLS[node.op]
        changed = {i - first: dtype for i, dtype in hits.items()}
        for i, dtype in changed.items():
            node.attr[types].list.type[i] = dtype
        for key in ("_read_only_resource_inputs", "_output_shapes"):
            node.attr.pop(key, None)
        for name in functions:
            value = node.attr[name]
            for func in value.list.func if value.WhichOneof("value") == "list" else [value.func]:
                func.name = self.function(func.name, changed)

    def function(self, name, changed):
        """The name of the copy of a function whose arguments of these numbers are values."""
        key = (name, tuple(sorted(changed.items())))
        if key in self.made:
            return self.made[key]
        base = f"{name}_frozen_{len(self.made)}"
        number = 0
        while _weft.has_function(base if not number else f"{base}_{number}"):
            number += 1
        made = self.made[key] = base if not number else f"{base}_{number}"
        copy = FunctionDef()
        copy.CopyFrom(self.library[name])
        copy.signature.name = made
        values = {}
        for i, dtype in changed.items():
            arg = copy.signature.input_arg[i]
            arg.type = dtype
            arg.ClearField("handle_data")
            copy.arg_attr.pop(i, None)
            values[arg.name] = dtype
        added = self.nodes(copy.node_def, values, True)
        renamed = self.renamed
        copy.node_def.extend(added)
        for name in list(copy.ret):
            copy.ret[name] = renamed.get(copy.ret[name], copy.ret[name])
        for out in copy.signature.output_arg:  # loops give their handles back
            if copy.ret[out.name] in values:
                out.type = values[copy.ret[out.name]]
        _weft.add_function_def(copy.SerializeToString())
        return made


def _constant(node, value, dtype):
    """Makes a placeholder a constant."""
    node.op = "Const"
    del node.input[:]
    for key in list(node.attr):
        del node.attr[key]
    node.attr["dtype"].type = dtype.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype=dtype))


def _frozen_graph(func):
    """(GraphDef with constants, captures that remain)"""
    graph_def = GraphDef()
    graph_def.CopyFrom(func.graph.as_graph_def())
    variables = {v._eager_handle()._identity(): v for v in func.variables}
    nodes = {n.name: n for n in graph_def.node}
    values, rest = {}, {}
    for outer, inner in func.graph.captures:
        node = nodes[inner.op.name]
        v = variables.get(outer._identity())
        if v is not None:
            _constant(node, v.numpy(), v.dtype)
            values[node.name] = v.dtype.as_datatype_enum
        elif outer.dtype.name in ("resource", "variant"):
            rest[node.name, 0] = outer
        else:
            _constant(node, outer.numpy(), outer.dtype)
    rewriter = _Frozen(graph_def.library)
    for node in rewriter.nodes(graph_def.node, values, False):
        graph_def.node.append(node)
    graph_def.ClearField("library")
    return graph_def, rest


def convert_variables_to_constants_v2(func, lower_control_flow=True, aggressive_inlining=False):
    """A concrete function with its variables as constants."""
    return convert_variables_to_constants_v2_as_graph(func, lower_control_flow, aggressive_inlining)[0]


def convert_variables_to_constants_v2_as_graph(func, lower_control_flow=True, aggressive_inlining=False):
    """(the frozen function, its GraphDef)"""
    from weft.saved_model.graph_functions import function_of_graph

    graph_def, rest = _frozen_graph(func)
    count = func._native.num_arguments
    feeds = [(t.op.name, t.value_index, t.dtype, t.shape, t.op.name) for t in func.graph.inputs[:count]]
    fetches = [(t.op.name, t.value_index) for t in func.graph.outputs]
    native, graph, outputs = function_of_graph(graph_def, "frozen", feeds, fetches, (), rest)
    made = FrozenFunction(native, graph, outputs)
    return made, graph.as_graph_def()


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
        from weft.framework.convert import convert_to_tensor

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
    from weft.compat.v1.graph_util import convert_variables_to_constants

    return convert_variables_to_constants(
        session, graph_def, [_place(n)[0] for n in output_node_names], variable_names_allowlist, variable_names_denylist
    )
