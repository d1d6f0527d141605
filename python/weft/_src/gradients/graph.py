"""tf.gradients and tf.hessians: gradients as nodes of the graph that is being built."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.tensor import Tensor
from weft._src.gradients.tape import (
    UnconnectedGradients,
    as_gradient,
    as_tensor_or_slices,
    flat_components,
    is_trainable,
    pack_composites,
    wants_zeros,
)


class AggregationMethod:
    """How gradients that meet are summed; weft adds them all at once."""

    ADD_N = 0
    DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def _list(values):
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _endpoint(x):
    """Where a gradient is asked for: a variable's is that of its handle."""
    if isinstance(x, _weft.VariableBase) and not x.dtype._is_ref_dtype:
        return x.handle
    if x is None:
        raise AttributeError("'NoneType' object has no attribute 'op'")
    return x if isinstance(x, Tensor) else _weft.convert(x, None, None)


def _target(y):
    if y is None:
        raise AttributeError("'NoneType' object has no attribute 'op'")
    return _weft.convert(y, None, None)


def _check_seed(y, g):
    """TensorFlow's rules for the gradient of a target."""
    if g is None:
        if y.dtype.is_complex:
            raise TypeError(f"Gradients of complex tensors ({y}) must set grad_ys (y.dtype = {y.dtype.name})")
        if y.dtype == dtypes.string:
            raise TypeError("Expected string, but got 1 of type 'int'.")
        return
    made, kind = g.dtype, None
    if y.dtype.is_floating or y.dtype.is_integer:
        if not made.is_floating and not made.is_integer:
            kind = "real or integer-valued", "real or integer"
    elif y.dtype.is_complex:
        if not made.is_complex:
            kind = "complex-valued", "real"
    elif y.dtype == dtypes.variant:
        if made != dtypes.variant:
            kind = "variant", "variant"
    elif y.dtype != dtypes.resource:
        raise TypeError(f"Tensor {y} with type {y.dtype.name} must be numeric to obtain a default gradient")
    elif made == dtypes.resource:
        raise TypeError(f"Input gradient {g} for resource tensor {y} should not be a resource")
    if kind:
        raise TypeError(
            f"Gradient type {made.name} generated for {kind[0]} tensor {y} with type {y.dtype.name} must be {kind[1]}"
        )


def gradients(
    ys,
    xs,
    grad_ys=None,
    name="gradients",
    gate_gradients=False,
    aggregation_method=None,
    stop_gradients=None,
    unconnected_gradients=UnconnectedGradients.NONE,
):
    """The gradients of the sum of ys with respect to each x."""
    if not _weft.in_graph():
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    ys, xs = _list(ys), _list(xs)
    zero = wants_zeros(unconnected_gradients)
    graph = _weft.current_graph()
    targets = [_target(y) for y in flat_components(ys)]
    sources = flat_components(xs)
    given = [None] * len(targets) if grad_ys is None else flat_components(_list(grad_ys))
    if len(given) != len(targets):
        raise ValueError(f"Length mismatch. Passed {len(given)} grad_ys for {len(targets)} ys")
    given = [None if g is None else as_tensor_or_slices(g) for g in given]
    for y, g in zip(targets, given):
        _check_seed(y, g)
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError(f"Invalid `aggregation_method` specified {aggregation_method}. Accepted values are [0, 1, 2].")
    ends = [_endpoint(x) for x in sources]
    stops = [_endpoint(s) for s in _list(() if stop_gradients is None else stop_gradients)]
    scope = graph._native.unique_name(_weft.name_scope() + (name or "gradients"))
    flows = [i for i, y in enumerate(targets) if is_trainable(y)]
    wanted = [i for i, e in enumerate(ends) if is_trainable(e)]
    made = graph._native.gradients(
        [targets[i] for i in flows],
        [ends[i] for i in wanted],
        [None if given[i] is None else _weft.convert(given[i], None, None) for i in flows],
        scope,
        stops,
    )
    out = [None] * len(ends)
    for i, g in zip(wanted, made):
        out[i] = as_gradient(g)
    for y, g in zip(targets, given):  # nothing flows through the type, but it may be what is asked for
        if not is_trainable(y):
            for i, e in enumerate(ends):
                if e is y and out[i] is None:
                    out[i] = raw.OnesLike(x=y) if g is None else g
    out = [_zeros(s) if g is None and zero else g for g, s in zip(out, sources)]
    return pack_composites(xs, out)


def _zeros(source):
    if isinstance(source, Tensor) and source.dtype == dtypes.resource:
        return raw.Fill(dims=raw.VariableShape(input=source), value=raw.Cast(x=0, DstT=dtypes.float32))
    return raw.ZerosLike(x=source)


def gradients_v1(
    ys,
    xs,
    grad_ys=None,
    name="gradients",
    colocate_gradients_with_ops=False,
    gate_gradients=False,
    aggregation_method=None,
    stop_gradients=None,
    unconnected_gradients=UnconnectedGradients.NONE,
):
    return gradients(ys, xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients, unconnected_gradients)


def hessians(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians"):
    """For each x the second derivatives of the sum of ys, of shape x.shape + x.shape."""
    sources = _list(xs)
    firsts = gradients(ys, sources, gate_gradients=gate_gradients, aggregation_method=aggregation_method)
    out = []
    for x, g in zip(sources, firsts):
        if g is None:
            raise ValueError("Tried to convert 'tensor' to a tensor and failed. Error: None values not supported.")
        shape = x.shape
        if not shape.is_fully_defined():
            out.append(_hessian_of_open_shape(x, _weft.convert(g, None, None)))
            continue
        flat = raw.Reshape(tensor=_weft.convert(g, None, None), shape=[-1])
        rows = []
        for i in range(shape.num_elements()):
            part = raw.StridedSlice(input=flat, begin=[i], end=[i + 1], strides=[1], shrink_axis_mask=1)
            row = gradients(part, x)[0]
            if row is None:
                raise ValueError("None values not supported.")
            rows.append(raw.Reshape(tensor=_weft.convert(row, None, None), shape=[-1]))
        sizes = shape.as_list()
        out.append(raw.Reshape(tensor=raw.Pack(values=rows, axis=0), shape=sizes + sizes))
    return out


def _hessian_of_open_shape(x, g):
    """Row by row, in a loop: its body has a copy of the nodes that lead from x to its gradient."""
    from weft._src.framework.importer import import_graph_def
    from weft._src.function.functional import map_fn
    from weft._src.proto import GraphDef

    between, inputs = _between(x, g)
    if not between:
        raise ValueError("None values not supported.")
    part = GraphDef()
    part.CopyFrom(x.graph.as_graph_def())
    kept = [n for n in part.node if n.name in between]
    part.ClearField("node")
    for node in kept:
        data = [i for i in node.input if not i.startswith("^")]
        node.ClearField("input")
        node.input.extend(data)
        part.node.append(node)

    def row(dy):
        own = raw.Identity(input=x)
        given = {t.name: own if t is x else t for t in [x, *inputs]}
        (again,) = import_graph_def(part, input_map=given, return_elements=[g.name], name="hessian")
        made = gradients(again, own, grad_ys=dy)[0]
        if made is None:
            raise ValueError("None values not supported.")
        return _weft.convert(made, None, None)

    sizes, count = raw.Shape(input=x), raw.Size(input=x)
    eye = raw.Diag(diagonal=raw.Fill(dims=raw.Reshape(tensor=count, shape=[1]), value=raw.Cast(x=1, DstT=x.dtype)))
    seeds = raw.Reshape(tensor=eye, shape=raw.ConcatV2(values=[raw.Reshape(tensor=count, shape=[1]), sizes], axis=0))
    rows = map_fn(row, seeds)
    return raw.Reshape(tensor=rows, shape=raw.ConcatV2(values=[sizes, sizes], axis=0))


def _between(x, g):
    """The names of the nodes on ways from x to g, and the tensors that these read from elsewhere."""
    reached, todo = set(), list(x.consumers())
    while todo:
        op = todo.pop()
        if op.name not in reached:
            reached.add(op.name)
            todo.extend(c for out in op.outputs for c in out.consumers())
    found, todo = {}, [g.op]
    while todo:
        op = todo.pop()
        if op.name in reached and op.name not in found:
            found[op.name] = op
            todo.extend(t.op for t in op.inputs)
    inputs = {t.name: t for op in found.values() for t in op.inputs if t.op.name not in found and t.name != x.name}
    return set(found), list(inputs.values())
