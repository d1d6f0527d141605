"""Whether loops and branches are functions (always), and whether a graph is made for the compiler. tensorflow-probability, tf-keras, tf2onnx."""

ENABLE_CONTROL_FLOW_V2 = True
ENABLE_CONTROL_FLOW_V2_IF_DYNAMIC = True


def EnableControlFlowV2(graph):  # noqa: N802 (TensorFlow's names)
    return True


def GraphOrParentsInXlaContext(graph):  # noqa: N802
    """Whether a graph, or one around it, is of a function that must be compiled (jit_compile)."""
    while graph is not None:
        native = getattr(graph, "_native", None)
        if native is None:
            return False
        if native.must_compile:
            return True
        graph = native.outer
    return False


def IsInXLAContext(op):  # noqa: N802
    return GraphOrParentsInXlaContext(op.graph)
