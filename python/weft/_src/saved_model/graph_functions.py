"""Functions made of parts of graphs: what is between some tensors of a GraphDef."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework.graph import FuncGraph, control_dependencies
from weft._src.framework.importer import _place
from weft._src.proto import GraphDef


def needed_nodes(graph_def, ends, stops):
    """The nodes that the ends need, in order, without those that only the stops need."""
    known = {n.name: n for n in graph_def.node}
    needed, rest = set(), [e for e in ends]
    while rest:
        name = rest.pop()
        if name in needed:
            continue
        if name not in known:
            raise ValueError(f"the graph has no node '{name}'")
        needed.add(name)
        for text in known[name].input:
            node, index = _place(text.lstrip("^"))
            if text.startswith("^") or (node, index or 0) not in stops:
                rest.append(node)
    return [n for n in graph_def.node if n.name in needed]


def function_of_graph(graph_def, name, feeds, fetches, targets=(), captures=None):
    """(the engine's function, its FuncGraph, outputs): feeds are (node, output, dtype, shape, name of the argument), fetches (node, output),
    targets names of nodes that must run. captures: (node, output) -> a tensor from outside, or a variable."""
    captures = captures or {}
    graph = FuncGraph(name)
    native = graph._native
    stops = {(f[0], f[1]) for f in feeds} | set(captures)
    part = GraphDef()
    ends = [n for n, i in fetches if (n, i) not in stops] + list(targets)
    for node in needed_nodes(graph_def, ends, stops):
        part.node.append(node)
    part.versions.CopyFrom(graph_def.versions)
    with graph.as_default():
        inputs, arguments = {}, []
        for node, index, dtype, shape, argument in feeds:
            made = native.add_argument(native.unique_name(argument, True), dtype, shape)
            inputs[node, index] = made
            arguments.append(made)
        present = {(_place(i)[0], _place(i)[1] or 0) for n in part.node for i in n.input if not i.startswith("^")}
        for place, value in captures.items():
            if place in present or place in fetches:
                inputs[place] = value.handle if isinstance(value, _weft.VariableBase) else native.capture(value)
        used = {place: tensor for place, tensor in inputs.items() if place in present}
        plain = [f for f in fetches if f not in inputs]
        tensors, nodes, _, _ = native.import_graph_def(part.SerializeToString(), "", used, plain, list(targets))
        found = dict(zip(plain, tensors))
        outputs = [inputs[f] if f in inputs else found[f] for f in fetches]
        if targets:
            with control_dependencies([graph._operation(n) for n in nodes]):
                outputs = [raw.Identity(input=t) for t in outputs] or [
                    raw.Identity(input=raw.Const(value=0, dtype="int32"))
                ]
        made = _weft.ConcreteFunction.make(native, outputs)
    known = {id(v) for v in made.variables()}
    for value in captures.values():
        if isinstance(value, _weft.VariableBase) and id(value) not in known:
            made.use_variable(value)
    graph.inputs, graph.outputs = arguments + graph.internal_captures, outputs
    return made, graph, outputs
