"""Whether loops and branches are functions: always. tensorflow-probability, tf2onnx."""

ENABLE_CONTROL_FLOW_V2 = True
ENABLE_CONTROL_FLOW_V2_IF_DYNAMIC = True


def EnableControlFlowV2(graph):  # noqa: N802 (TensorFlow's names)
    return True


def GraphOrParentsInXlaContext(graph):  # noqa: N802
    """Whether a graph is made for the compiler: it is asked for by function, not by graph."""
    return False


def IsInXLAContext(op):  # noqa: N802
    return False
