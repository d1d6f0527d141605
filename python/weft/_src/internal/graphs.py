"""Names of tf.__internal__ that are about graphs and devices."""

from weft._src.framework import errors


def create_c_op(graph, node_def, inputs, control_inputs, op_def=None, extract_traceback=True):
    """Adds a node as a NodeDef describes it, with its full name; `inputs` are tensors and, for inputs that are lists, lists of them."""
    from weft._src.framework import nest
    from weft._src.proto import GraphDef

    if graph._native.find(node_def.name) is not None:
        raise ValueError(f"Duplicate node name in graph: '{node_def.name}'")
    given = nest.flatten(list(inputs))
    message = GraphDef()
    node = message.node.add()
    node.CopyFrom(node_def)
    del node.input[:]
    node.input.extend(f"_input_{i}" for i in range(len(given)))
    try:
        _, made, _, _ = graph._native.import_graph_def(
            message.SerializeToString(), "", {(f"_input_{i}", 0): t for i, t in enumerate(given)}, [], [node.name]
        )
    except errors.InvalidArgumentError as e:
        raise ValueError(e.message) from None
    graph._native.mark_name(node.name)
    op = graph._operation(made[0])
    for control in control_inputs:
        op._add_control_input(control)
    return op


def lift_to_graph(
    tensors,
    graph,
    sources=None,
    disallowed_placeholders=None,
    add_sources=False,
    handle_captures=False,
    base_graph=None,
    op_map=None,
):
    raise errors.UnimplementedError(
        None, None, "tf.__internal__.lift_to_graph is not supported: nodes stay in the graph that they were made in"
    )


def execute_fn_for_device(device_branch_fns, default_fn, name="execute_fn"):
    """The function for the kind of device that runs it; there is one kind, which is known at once."""
    for kind, function in device_branch_fns.items():
        if kind.upper() == "CPU":
            return function()
    return default_fn()


def get_enclosing_xla_context():
    return None


def is_tfrt_enabled():
    return False


def graph_defs_equal(graph_def_1, graph_def_2, treat_nan_as_equal=False):
    """Whether two GraphDefs are the same; the order of nodes and functions does not count."""
    from weft._src.proto import GraphDef

    for i, given in enumerate((graph_def_1, graph_def_2)):
        if not isinstance(given, GraphDef):
            raise TypeError(f"graph_def_{i + 1} must be a graph_pb2.GraphDef proto, but got type {type(given)}.")

    def content(graph_def):
        nodes = sorted(_text(node, treat_nan_as_equal) for node in graph_def.node)
        functions = sorted(_text(f, treat_nan_as_equal) for f in graph_def.library.function)
        return nodes, functions, _text(graph_def.versions, treat_nan_as_equal)

    return content(graph_def_1) == content(graph_def_2)


def _text(message, nan_is_equal):
    text = str(message)
    return text if nan_is_equal or "nan" not in text else f"{id(message)} {text}"


def with_dependencies(dependencies, output_tensor, name=None):
    """The tensor, in graphs one that is there only after other ops."""
    from weft._src.framework import nest
    from weft._src.framework.graph import control_dependencies, executing_eagerly
    from weft._src.ops.array_ops import identity

    if executing_eagerly():
        return output_tensor
    with control_dependencies(dependencies):
        return nest.map_structure(
            lambda t: identity(t, name=name or "control_dependency"), output_tensor, expand_composites=True
        )
