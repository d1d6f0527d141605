"""tf.import_graph_def: nodes of a message into the graph that is being built."""

import contextlib

from weft import _weft
from weft._src.framework import errors
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import _graph_name_scope, get_default_graph
from weft._src.framework.tensor import EagerTensor, Tensor


def _place(text):
    """("node", output number or None) of "node:0" or "node"."""
    name, colon, index = text.rpartition(":")
    if not colon:
        return text, None
    if not index.isdigit():
        raise ValueError(f"Cannot convert {text!r} to a tensor name.")
    return name, int(index)


def import_graph_def(graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None):
    """Adds the nodes of a GraphDef; gives the tensors and operations that return_elements names."""
    from weft._src.proto import GraphDef

    if not isinstance(graph_def, GraphDef):
        try:
            graph_def = GraphDef.FromString(graph_def.SerializeToString())
        except AttributeError:
            raise TypeError("Argument `graph_def` must be a GraphDef proto.") from None
    if input_map is None:
        input_map = {}
    elif not isinstance(input_map, dict) or not all(isinstance(k, (str, bytes)) for k in input_map):
        raise TypeError(
            f"Argument `input_map` must be a dictionary mapping strings to Tensor objects. Received: {input_map}"
        )
    if return_elements is not None and not all(isinstance(e, (str, bytes)) for e in return_elements):
        raise TypeError(f"Argument `return_elements` must be a list of strings. Received: {return_elements}")
    graph = get_default_graph()
    wanted = [e.decode() if isinstance(e, bytes) else e for e in return_elements or ()]
    entered = not _weft.in_graph()
    if entered:  # version 1's default graph, which is there without a block
        with graph.as_default():
            return _import(graph, graph_def, input_map, wanted, return_elements, name)
    return _import(graph, graph_def, input_map, wanted, return_elements, name)


def _import(graph, graph_def, input_map, wanted, return_elements, name):
    with _graph_name_scope(graph, "import" if name is None else name) as scope:
        inputs = {}
        with _graph_name_scope(graph, "_inputs" if scope else "inputs") if input_map else contextlib.nullcontext():
            for key, value in input_map.items():
                place = _place(key.decode() if isinstance(key, bytes) else key)
                inputs[place[0], place[1] or 0] = (
                    value
                    if isinstance(value, Tensor) and not isinstance(value, EagerTensor)
                    else convert_to_tensor(value)
                )
        places = [_place(e) for e in wanted]
        known = {n.name for n in graph_def.node} if wanted else ()  # a million objects for nothing otherwise
        for element, (node, output) in zip(wanted, places):
            if node not in known:
                kind = "node" if output is None else "tensor"
                raise ValueError(f"Requested return {kind} {element!r} not found in graph def")
        if graph_def.library.function:  # the caller's message stays as it is
            graph_def = type(graph_def).FromString(graph_def.SerializeToString())
        functions = _add_functions(graph_def)  # noqa: F841 - held until the graph does
        try:
            tensors, nodes, _, missing = graph._native.import_graph_def(
                graph_def.SerializeToString(),
                scope[:-1] if scope else "",
                inputs,
                [p for p in places if p[1] is not None],
                [p[0] for p in places if p[1] is None],
            )
        except errors.InvalidArgumentError as e:
            raise ValueError(e.message) from None
        if missing:
            shown = [f"{n}:{i}" for n, i in missing]
            raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{', '.join(shown)}]")
    if return_elements is None:
        return None
    tensors, nodes = iter(tensors), iter(nodes)
    return [next(tensors) if index is not None else graph._operation(next(nodes)) for _, index in places]


def _add_functions(graph_def):
    """The engine's library has the functions of all graphs: one of the same name must be the same."""
    from weft._src.saved_model.load import add_functions, rename_functions

    if not graph_def.library.function:
        return None
    if all(_weft.has_function(f.signature.name) for f in graph_def.library.function):
        graph_def.ClearField("library")
        return None
    for f in graph_def.library.function:
        try:
            _weft.op_def(f.signature.name)
        except Exception:  # noqa: BLE001 - there is no such op
            continue
        raise ValueError(f"Cannot add function '{f.signature.name}' because an op with the same name already exists.")
    names, functions = add_functions(graph_def.library)
    for node in graph_def.node:
        rename_functions(node, names)
    graph_def.ClearField("library")
    return functions
