"""The graph of a function of the library: its body as nodes, for looking at and cutting."""

from weft import _weft
from weft._src.framework.graph import FuncGraph
from weft._src.proto import FunctionDef, GraphDef, op_def


def _signature(op, known):
    """The OpDef of an op or of a function of the library."""
    if op not in known:
        if _weft.has_function(op):
            known[op] = FunctionDef.FromString(_weft.function_def(op)).signature
        else:
            known[op] = op_def(op)
    return known[op]


def _sizes(node, signature):
    """How many tensors each output of a node has, by name."""
    out = []
    for arg in signature.output_arg:
        if arg.number_attr:
            count = node.attr[arg.number_attr].i
        elif arg.type_list_attr:
            count = len(node.attr[arg.type_list_attr].list.type)
        else:
            count = 1
        out.append((arg.name, count))
    return out


def graph_def_of(function):
    """A FunctionDef's body as a GraphDef: arguments are placeholders, inputs are named by number. Also where its results are."""
    made = GraphDef()
    known, places = {}, {}
    for i, arg in enumerate(function.signature.input_arg):
        node = made.node.add(name=arg.name, op="Placeholder")
        node.attr["dtype"].type = arg.type
        if i in function.arg_attr and "_output_shapes" in function.arg_attr[i].attr:
            shapes = function.arg_attr[i].attr["_output_shapes"].list.shape
            if len(shapes):
                node.attr["shape"].shape.CopyFrom(shapes[0])
        if "shape" not in node.attr:
            node.attr["shape"].shape.unknown_rank = True
        places[arg.name] = f"{arg.name}:0"
    for node in function.node_def:
        at = 0
        for name, count in _sizes(node, _signature(node.op, known)):
            for i in range(count):
                places[f"{node.name}:{name}:{i}"] = f"{node.name}:{at}"
                at += 1
    for node in function.node_def:
        copy = made.node.add()
        copy.CopyFrom(node)
        del copy.input[:]
        for text in node.input:
            copy.input.append(text if text.startswith("^") else places[text])
    return made, [places[function.ret[o.name]] for o in function.signature.output_arg]


def graph_of_function(concrete):
    """A FuncGraph with the body of a restored trace. Its inputs are placeholders, captured ones behind the arguments."""
    function = FunctionDef.FromString(concrete._native.function_def())
    graph_def, results = graph_def_of(function)
    graph = _BodyGraph(concrete._graph_name())
    arguments = [arg.name for arg in function.signature.input_arg]
    with graph.as_default():
        wanted = [(name, 0) for name in arguments] + [
            (r.rpartition(":")[0], int(r.rpartition(":")[2])) for r in results
        ]
        tensors, _, _, _ = graph._native.import_graph_def(graph_def.SerializeToString(), "", {}, wanted, [])
    graph.inputs, graph.outputs = tensors[: len(arguments)], tensors[len(arguments) :]
    graph._captured = list(zip(concrete.captured_inputs, graph.inputs[concrete._native.num_arguments :]))
    graph._function_variables = concrete.variables
    graph.structured_input_signature, graph.structured_outputs = (
        concrete.structured_input_signature,
        concrete.structured_outputs,
    )
    return graph


class _BodyGraph(FuncGraph):
    """A body that was read: what it captured is known from its function."""

    _captured, _function_variables = (), ()

    def __init__(self, name):
        _weft.enter_eager()
        try:
            super().__init__(name)
        finally:
            _weft.exit_graph()

    @property
    def captures(self):
        return list(self._captured)

    @property
    def external_captures(self):
        return [outer for outer, _ in self._captured]

    @property
    def internal_captures(self):
        return [inner for _, inner in self._captured]

    @property
    def variables(self):
        return tuple(self._function_variables)
