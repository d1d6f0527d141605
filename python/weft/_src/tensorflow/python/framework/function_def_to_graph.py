"""Bodies of functions as graphs. tf2onnx."""


def function_def_to_graph(
    fdef,
    structured_input_signature=None,
    structured_outputs=None,
    input_shapes=None,
    propagate_device_spec=False,
    include_library_functions=False,
):
    """A FuncGraph with the body of a FunctionDef: arguments are placeholders."""
    from weft._src.saved_model.function_graph import _BodyGraph, graph_def_of
    from weft._src.framework.tensor_shape import as_shape

    graph_def, results = graph_def_of(fdef)
    if input_shapes is not None:
        for i, (node, shape) in enumerate(zip(graph_def.node, input_shapes)):
            if shape is not None and not (
                i in fdef.arg_attr and "_output_shapes" in fdef.arg_attr[i].attr
            ):  # the function's own word goes first
                node.attr["shape"].shape.CopyFrom(shape if hasattr(shape, "dim") else as_shape(shape).as_proto())
    graph = _BodyGraph(fdef.signature.name)
    arguments = [(arg.name, 0) for arg in fdef.signature.input_arg]
    wanted = arguments + [(r.rpartition(":")[0], int(r.rpartition(":")[2])) for r in results]
    with graph.as_default():
        tensors, _, _, _ = graph._native.import_graph_def(graph_def.SerializeToString(), "", {}, wanted, [])
    graph.inputs, graph.outputs = tensors[: len(arguments)], tensors[len(arguments) :]
    graph.structured_input_signature, graph.structured_outputs = structured_input_signature, structured_outputs
    return graph
