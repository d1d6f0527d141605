"""Where the program made the node of a function that failed."""

import re
import weakref

functions = weakref.WeakValueDictionary()  # the name of a traced function in the engine -> its graph

_NODE = re.compile(r"\[\[\{\{node ([^}]+)\}\}\]\]")
_CALL = re.compile(r"\[Op:(__[^\]]+)\]")
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
    lines = "".join(f'  File "{file}", line {line}, in {name}\n\n' for file, line, name in frames)
    return f"Graph execution error:\n\nDetected at node {node[1]} defined at (most recent call last):\n{lines}{message}"


def _frames(node, function):
    """Those of the function that was called, or of the last one that has such a node: it may have called that."""
    from weft.autograph.errors import user_frame

    graphs = [functions.get(function), *reversed(list(functions.values()))]
    for graph in filter(None, graphs):
        frames = getattr(graph._native, "node_stack", lambda _: ())(node)
        if frames:
            return [user_frame(*frame) for frame in frames]
    return []
