"""Where the program made the node of a function that failed."""

import weakref

functions = weakref.WeakValueDictionary()  # the name of a traced function in the engine -> its graph


def explained(message, node, function):
    """For the engine: the message of an error in a node of a function, with the lines that made the node; None where they are not known."""
    frames = _frames(node, function)
    if not frames:
        return None
    lines = "".join(f'  File "{file}", line {line}, in {name}\n\n' for file, line, name in frames)
    return f"Graph execution error:\n\nDetected at node {node} defined at (most recent call last):\n{lines}{message}"


_SEE = (
    "is out of scope and cannot be used here. Use return values, explicit Python locals or TensorFlow collections to access it.\nPlease see "
    "https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values for more information."
)


def out_of_scope(described):
    """For the engine: the exception for a tensor of a graph that the code which runs now cannot see."""
    from weft._src.framework.errors import InaccessibleTensorError
    from weft._src.framework.graph import get_default_graph

    name, dtype, shape, place = described.split("\n")
    shape = (
        "<unknown>"
        if not shape.startswith("[")
        else str(tuple(None if d in "?-1" else int(d) for d in shape[1:-1].split(",") if d))
    )
    tensor, node = f"<tf.Tensor '{name}' shape={shape} dtype={dtype}>", name.rpartition(":")[0]
    graph = get_default_graph()
    own = place == "inside" or "/" in node  # of a branch or loop
    frames = (_user_frames(graph, node) if own else []) or _frames(node, None)
    made = "".join(f'    File "{file}", line {line}, in {function}\n' for file, line, function in frames)
    where = f"FuncGraph(name={graph.name}, id={id(graph)})" if graph.building_function else "here"
    text = f"{tensor} {_SEE}\n\n{tensor} was defined here:\n{made}\nThe tensor {tensor} cannot be accessed from {where}, because it was defined in a graph that is out of scope."
    return (InaccessibleTensorError if own else TypeError)(text)


def _user_frames(graph, node):
    from weft._src.autograph.errors import user_frame

    return [user_frame(*frame) for frame in graph._native.node_stack(node)]


def _frames(node, function):
    """Those of the function that was called, or of the last one that has such a node: it may have called that."""
    graphs = [functions.get(function), *reversed(list(functions.values()))]
    for graph in filter(None, graphs):
        frames = _user_frames(graph, node)
        if frames:
            return frames
    return []
