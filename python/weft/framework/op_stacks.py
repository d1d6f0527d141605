"""Where the program made the node of a function that failed."""

import re
import weakref

functions = weakref.WeakValueDictionary()  # the name of a traced function in the engine -> its graph

_NODE = re.compile(r"\[\[\{\{node ([^}]+)\}\}\]\]")
_CALL = re.compile(r"\[Op:(__[^\]]+)\]")
_IN_FUNCTION = re.compile(r"^\{\{function_node [^}]*\}\} ")
_ENGINES_HINT = " (weft::run_functions_eagerly(true) runs it op by op)"


def explained(message):
    """The message of an error that a function raised as it ran, with the lines that made the node."""
    node, call = _NODE.search(message), _CALL.search(message)
    if node is None or call is None or "Graph execution error:" in message:
        return message
    message = message.replace(_ENGINES_HINT, "")
    frames = _frames(node[1], call[1])
    if not frames:
        return message
    message = _IN_FUNCTION.sub("", message)
    lines = "".join(f'  File "{file}", line {line}, in {name}\n\n' for file, line, name in frames)
    return f"Graph execution error:\n\nDetected at node {node[1]} defined at (most recent call last):\n{lines}{message}"


_SEE = (
    "is out of scope and cannot be used here. Use return values, explicit Python locals or TensorFlow collections to access it.\nPlease see "
    "https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values for more information."
)


def out_of_scope(message):
    """For the engine: the exception for a tensor of a graph that the code which runs now cannot see."""
    from weft.framework.errors import InaccessibleTensorError
    from weft.framework.graph import get_default_graph

    name, dtype, shape = re.match(r"the tensor '(.*)' \((\w+) (.*?)\) is out of scope", message).groups()
    shape = (
        "<unknown>"
        if not shape.startswith("[")
        else str(tuple(None if d in "?-1" else int(d) for d in shape[1:-1].split(",") if d))
    )
    tensor, node = f"<tf.Tensor '{name}' shape={shape} dtype={dtype}>", name.rpartition(":")[0]
    graph = get_default_graph()
    own = "inside this function" in message or "/" in node  # of a branch or loop
    frames = (_user_frames(graph, node) if own else []) or _frames(node, None)
    made = "".join(f'    File "{file}", line {line}, in {function}\n' for file, line, function in frames)
    where = f"FuncGraph(name={graph.name}, id={id(graph)})" if graph.building_function else "here"
    text = f"{tensor} {_SEE}\n\n{tensor} was defined here:\n{made}\nThe tensor {tensor} cannot be accessed from {where}, because it was defined in a graph that is out of scope."
    return (InaccessibleTensorError if own else TypeError)(text)


def _user_frames(graph, node):
    from weft.autograph.errors import user_frame

    return [user_frame(*frame) for frame in graph._native.node_stack(node)]


def _frames(node, function):
    """Those of the function that was called, or of the last one that has such a node: it may have called that."""
    graphs = [functions.get(function), *reversed(list(functions.values()))]
    for graph in filter(None, graphs):
        frames = _user_frames(graph, node)
        if frames:
            return frames
    return []
