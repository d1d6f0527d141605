"""Optimization of a MetaGraphDef. tf2onnx, which needs no more than that what nothing fetches is gone."""


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
    return extract_sub_graph(metagraph.graph_def, ends) if ends else metagraph.graph_def
