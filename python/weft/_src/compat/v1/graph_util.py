"""tf.compat.v1.graph_util: GraphDefs taken apart and frozen."""

from weft import _weft
from weft._src.namespace import missing as _missing
from weft._src.framework.importer import import_graph_def  # noqa: F401


def _node_of(text):
    """The name of the node that an input is of."""
    return text.lstrip("^").partition(":")[0]


def must_run_on_cpu(node, pin_variables_on_cpu=False):
    """Whether a node works on text or is a variable that is kept on the host."""
    from weft._src.proto import DT_STRING, NodeDef

    proto = node if isinstance(node, NodeDef) else node.node_def
    role = _weft.op_role(proto.op)
    if pin_variables_on_cpu and role in ("ref_variable", "var_handle"):
        return True
    if role == "const":
        return proto.attr["dtype"].type == DT_STRING
    return proto.op in ("DynamicStitch", "DynamicPartition") and proto.attr["T"].type in (3, 9)


def extract_sub_graph(graph_def, dest_nodes):
    """The part of a GraphDef that these nodes need."""
    from weft._src.proto import GraphDef

    if isinstance(dest_nodes, str):
        raise TypeError(f"Argument `dest_nodes` must be an iterable of strings. Received: {dest_nodes}")
    known = {n.name: n for n in graph_def.node}
    for name in dest_nodes:
        if name not in known:
            raise AssertionError(f"{name} is not in graph")
    needed, rest = set(), list(dest_nodes)
    while rest:
        name = rest.pop()
        if name not in needed:
            needed.add(name)
            rest += [_node_of(i) for i in known[name].input]
    made = GraphDef()
    for node in graph_def.node:
        if node.name in needed:
            made.node.append(node)
    made.library.CopyFrom(graph_def.library)
    made.versions.CopyFrom(graph_def.versions)
    return made


def tensor_shape_from_node_def_name(graph, input_name):
    return graph.get_tensor_by_name(input_name if ":" in input_name else input_name + ":0").shape


def remove_training_nodes(input_graph, protected_nodes=None):
    """Without Identity and CheckNumerics nodes, which matter in training only."""
    from weft._src.proto import GraphDef

    protected = set(protected_nodes or ())
    through = {
        n.name: n.input[0]
        for n in input_graph.node
        if n.op in ("Identity", "CheckNumerics") and n.name not in protected and len(n.input) == 1
    }
    made = GraphDef()
    for node in input_graph.node:
        if node.name in through:
            continue
        copy = made.node.add()
        copy.CopyFrom(node)
        del copy.input[:]
        for i in node.input:
            while not i.startswith("^") and _node_of(i) in through:
                i = through[_node_of(i)]
            copy.input.append(i)
    made.library.CopyFrom(input_graph.library)
    made.versions.CopyFrom(input_graph.versions)
    return made


def convert_variables_to_constants(
    sess, input_graph_def, output_node_names, variable_names_whitelist=None, variable_names_blacklist=None
):
    """The part of a graph that the outputs need, with variables as constants of their values in the session."""
    from weft._src.saved_model.freeze import frozen_graph_def

    sub = extract_sub_graph(input_graph_def, output_node_names)
    names = [
        n.name
        for n in sub.node
        if _weft.op_role(n.op) == "var_handle"
        and (variable_names_whitelist is None or n.name in variable_names_whitelist)
        and (variable_names_blacklist is None or n.name not in variable_names_blacklist)
    ]
    chosen = set(names)
    # Every reading of a variable becomes the constant; what reads is run once for the value.
    readers = {}
    for node in sub.node:
        if _weft.op_role(node.op) == "read_variable" and _node_of(node.input[0]) in chosen:
            readers.setdefault(_node_of(node.input[0]), []).append(node.name)
    first = {v: r[0] for v, r in readers.items()}
    values = dict(zip(first, sess.run([r + ":0" for r in first.values()]))) if first else {}
    return frozen_graph_def(sub, values)


__getattr__ = _missing("tf.compat.v1.graph_util")
