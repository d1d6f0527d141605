"""Functions that have an implementation for each kind of device (attributes api_implements and api_preferred_device): a library calls one of them and
adds the others to the graph. Grappler chooses when TensorFlow optimises the graph; here the one for the CPU takes the place of the general one as soon as
it is added to the graph. tensorflow-probability's samplers: the general ones are loops, those for the CPU are kernels, and their numbers differ."""


def note(concrete, outer):
    """A function with the attribute api_implements, traced while the graph `outer` (or none) is built."""
    if outer is not None and not concrete._attributes.get("api_preferred_device"):
        outer.__dict__.setdefault("_general_implementations", {})[concrete._attributes["api_implements"]] = concrete


def take_over(graph, concrete):
    """Makes the call of the general function in a graph a call of this one, where this is the one for the CPU."""
    attributes = concrete._attributes
    if attributes.get("api_preferred_device") != "CPU":
        return
    general = graph.__dict__.get("_general_implementations", {}).pop(attributes["api_implements"], None)
    if general is None or not _same_signature(general, concrete):
        return
    native, name = graph._native, general.name.decode()
    for node in reversed(native.nodes()):
        if native.node_attrs(node).get("f") != name:
            continue
        device = native.node_device(node)
        if not device or "CPU" in device.upper():
            native.set_node_attr(node, "f", concrete.name.decode())
        return


def _same_signature(a, b):
    types = lambda tensors: [t.dtype for t in tensors]  # noqa: E731
    captures = lambda f: [t._identity() for t in f.captured_inputs]  # noqa: E731
    return types(a.inputs) == types(b.inputs) and types(a.outputs) == types(b.outputs) and captures(a) == captures(b)
