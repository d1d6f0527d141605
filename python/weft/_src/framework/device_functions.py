"""Devices that depend on the node: tf.device with a function, and colocation. They are asked when a node is made, the innermost first."""

import threading

from weft import _weft


class _State(threading.local):
    def __init__(self):
        self.frames = []  # (what places a node, the device scope around it), the innermost last
        self.placed = {}  # graph -> how many of its nodes were placed
        self.busy = False


_state = _State()


def active():
    return bool(_state.frames)


def entered(graph):
    """The program goes on in a graph, whose nodes so far are placed."""
    _state.placed.setdefault(graph._native.id, graph._native.num_ids())


class Frame:
    """A context in which place(op) gives each node its device, and says whether contexts around it are asked too."""

    def __init__(self, place):
        self._place = place

    def __enter__(self):
        graph = _weft.current_graph()
        if active():
            _place_new(graph)
        else:
            _state.placed = {}
            _weft.set_after_node(_place_new)
        entered(graph)
        _state.frames.append((self._place, _weft.scoped_device()))
        _weft.set_device("")

    def __exit__(self, *error):
        try:
            if error[0] is None and _weft.in_graph():
                _place_new(_weft.current_graph())
        finally:
            _, outside = _state.frames.pop()
            _weft.set_device(outside)
            if not active():
                _weft.set_after_node(None)


def _place_new(graph):
    """Places what was added to a graph since the last call."""
    if _state.busy:
        return
    native = graph._native
    first, end = _state.placed.get(native.id, 0), native.num_ids()
    _state.placed[native.id], _state.busy = end, True
    try:
        for i in range(first, end):
            if native.has_node(i):
                _placed(graph._operation(i))
    finally:
        _state.busy = False


def _placed(op):
    from weft._src.framework.device import merged_names

    for place, outside in reversed(_state.frames):
        if not place(op):
            return
        if outside:
            op._set_device(merged_names(outside, op.device))


def by_function(function):
    """Of tf.device(function)."""

    def place(op):
        name = function(op)
        name = name.to_string() if hasattr(name, "to_string") else name
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"Expected binary or unicode string, got {name!r}")
        op._set_device(name if isinstance(name, str) else name.decode())
        return True

    return Frame(place)


def nowhere():
    """Of tf.device(None): what is around it does not count."""
    return Frame(lambda op: False)


def beside(other):
    """With another op: on its device, in its colocation group."""

    def place(op):
        if other.device:
            op._set_device(other.device)
        op._set_attr("_class", other.colocation_groups())
        return False

    return Frame(place)
