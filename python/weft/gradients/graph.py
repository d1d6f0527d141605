"""tf.gradients: gradients as nodes of the graph that is being built."""

from weft import _weft
from weft.framework.convert import convert_to_tensor
from weft.framework.tensor import Tensor
from weft.gradients.tape import UnconnectedGradients, as_gradient, wants_zeros


class AggregationMethod:
    """How gradients that meet are added; the engine chooses itself."""

    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def _as_list(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def gradients_v1(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None,
                 stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
    """Version 1's order of arguments."""
    return gradients(ys, xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients, unconnected_gradients)


def gradients(ys, xs, grad_ys=None, name="gradients", gate_gradients=False, aggregation_method=None, stop_gradients=None,
              unconnected_gradients=UnconnectedGradients.NONE):
    """The gradients of the sum of ys with respect to each of xs; None for what ys do not depend on."""
    if not _weft.in_graph():
        raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.")
    zeros = wants_zeros(unconnected_gradients)
    graph = _weft.current_graph()
    ys, xs = _as_list(ys), _as_list(xs)
    grad_ys = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    if len(grad_ys) != len(ys):
        raise ValueError(f"Length mismatch. Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    ys = [y.flat_values if hasattr(y, "flat_values") else y for y in ys]
    targets = [y if isinstance(y, Tensor) else convert_to_tensor(y) for y in ys]
    stops = [] if stop_gradients is None else [_source(s) for s in _as_list(stop_gradients)]
    if stops:
        targets = _stopped(graph, targets, stops)
    seeds = []
    for y, g in zip(targets, grad_ys):
        if g is None and y.dtype.is_complex:
            raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})")
        seeds.append(None if g is None else convert_to_tensor(g, dtype=y.dtype))
    sources = [_source(x) for x in xs]
    made = graph._native.gradients(targets, sources, seeds, graph.unique_name(name or "gradients"))
    out = []
    for x, g in zip(xs, made):
        if g is None and zeros:
            from weft.ops.array_ops import zeros_like

            g = zeros_like(x.read_value() if isinstance(x, _weft.VariableBase) else x)
        out.append(None if g is None else as_gradient(g))
    return out


def _source(x):
    if isinstance(x, _weft.VariableBase):
        return x.handle
    if hasattr(x, "flat_values"):
        return x.flat_values
    return x if isinstance(x, Tensor) else convert_to_tensor(x)


def _stopped(graph, targets, stops):
    raise NotImplementedError("tf.gradients(stop_gradients=...): use tf.stop_gradient where the tensors are made")


def hessians(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians"):
    """The second derivatives of the sum of ys with respect to each of xs."""
    from weft.function.control_flow import while_loop
    from weft.ops import array_ops
    from weft.ops.tensor_array import TensorArray

    out = []
    for gradient, x in zip(gradients(ys, xs), _as_list(xs)):
        gradient = array_ops.reshape(gradient, [-1])
        count = array_ops.size(x)

        def body(i, rows, gradient=gradient, x=x):
            return i + 1, rows.write(i, gradients(gradient[i], x)[0])

        _, rows = while_loop(lambda i, _: i < count, body, [0, TensorArray(x.dtype, count)])
        shape = array_ops.shape(x)
        out.append(array_ops.reshape(rows.stack(), array_ops.concat([shape, shape], 0)))
    return out


