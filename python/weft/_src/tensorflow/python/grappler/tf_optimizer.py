"""Optimization of a MetaGraphDef. tf2onnx, which needs no more than that what nothing fetches is gone and that its patterns find what constant folding leaves."""


def OptimizeGraph(
    config_proto, metagraph, verbose=True, graph_id=b"graph_to_optimize", cluster=None, strip_default_attributes=False
):  # noqa: N802
    """The nodes that the collection train_op of a MetaGraphDef needs. The optimizations are the engine's, when the graph runs."""
    from weft._src.compat.v1.graph_util import extract_sub_graph

    ends = (
        [name.decode().partition(":")[0] for name in metagraph.collection_def["train_op"].node_list.value or ()]
        if hasattr(next(iter(metagraph.collection_def["train_op"].node_list.value), b""), "decode")
        else [name.partition(":")[0] for name in metagraph.collection_def["train_op"].node_list.value]
    )
    made = extract_sub_graph(metagraph.graph_def, ends) if ends else metagraph.graph_def
    if "constfold" in config_proto.graph_options.rewrite_options.optimizers:
        _stacks_of_one(made)
    return made


def _stacks_of_one(graph_def):
    """A stack of one tensor is that tensor with one more dimension: patterns (tf2onnx's of tf.eye) expect the form that grappler gives it."""
    for node in list(graph_def.node):
        if node.op != "Pack" or node.attr["N"].i != 1:
            continue
        axis = graph_def.node.add()
        axis.name, axis.op = f"ConstantFolding/{node.name}_const_axis", "Const"
        axis.input.append("^" + node.input[0].partition(":")[0])
        axis.attr["dtype"].type = axis.attr["value"].tensor.dtype = 3  # DT_INT32
        axis.attr["value"].tensor.tensor_shape.SetInParent()
        axis.attr["value"].tensor.int_val.append(node.attr["axis"].i)
        node.op = "ExpandDims"
        node.input.insert(1, axis.name)
        for name in ("N", "axis"):
            node.attr.pop(name, None)
        node.attr["Tdim"].type = 3
