"""tf.gradients and tf.hessians: gradients as nodes of the graph that is being built."""

import re

from weft import _weft
from weft._raw import raw
from weft.framework import errors, nest
from weft.framework.tensor import Tensor
from weft.gradients.tape import UnconnectedGradients, is_trainable, wants_zeros


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
    if isinstance(x, _weft.VariableBase):
        return x.handle
    return x if isinstance(x, Tensor) else _weft.convert(x, None, None)


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
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape " "instead."
        )
    zero = wants_zeros(unconnected_gradients)
    graph = _weft.current_graph()
    targets = [_weft.convert(y, None, None) for y in nest.flatten(_list(ys), expand_composites=True)]
    sources = nest.flatten(_list(xs), expand_composites=True)
    given = [None] * len(targets) if grad_ys is None else nest.flatten(_list(grad_ys), expand_composites=True)
    if len(given) != len(targets):
        raise ValueError(f"Length mismatch. Received {len(targets)} ys and {len(given)} grad_ys.")
    for y, g in zip(targets, given):
        if g is None and y.dtype.is_complex:
            raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})")
        if not is_trainable(y):
            raise TypeError(f"Gradients of tensors of type {y.dtype.name} are not defined: {y}")
        if g is not None and _weft.convert(g, None, None).dtype is not y.dtype:
            raise TypeError(
                f"Gradients and ys must have the same type: {y.dtype.name} and "
                f"{_weft.convert(g, None, None).dtype.name}"
            )
    ends = [_endpoint(x) for x in sources]
    scope = graph._native.unique_name(_weft.name_scope() + (name or "gradients"))
    wanted = [i for i, e in enumerate(ends) if is_trainable(e)]
    seeds = [None if g is None else _weft.convert(g, y.dtype, None) for g, y in zip(given, targets)]
    try:
        made = graph._native.gradients(
            targets,
            [ends[i] for i in wanted],
            seeds,
            scope,
            [_endpoint(s) for s in _list(() if stop_gradients is None else stop_gradients)],
        )
    except errors.NotFoundError as error:
        _raise_lookup(error.message)
        raise
    out = [None] * len(ends)
    for i, g in zip(wanted, made):
        out[i] = g
    return [raw.ZerosLike(x=s) if g is None and zero else g for g, s in zip(out, sources)]


def _raise_lookup(text):
    """TensorFlow's words for an op without a gradient."""
    kind = re.match(r"gradient registry has no entry for: (\w+)", text)
    node = re.search(r"\{\{node ([^}]+)\}\}", text)
    if kind:
        raise LookupError(
            f"No gradient defined for operation'{node[1] if node else kind[1]}' (op type: {kind[1]}). "
            "In general every operation must have an associated "
            "`@tf.RegisterGradient` for correct autodiff, which this op is lacking. If you want to "
            "pretend this operation is a constant in your "
            "program, you may insert `tf.stop_gradient`. This can be useful to silence the error in "
            "cases where you know gradients are not needed, "
            "e.g. the forward pass of tf.custom_gradient. Please see more details in "
            "https://www.tensorflow.org/api_docs/python/tf/custom_gradient."
        ) from None


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
    firsts = gradients(ys, sources, name=name, gate_gradients=gate_gradients, aggregation_method=aggregation_method)
    out = []
    for x, g in zip(sources, firsts):
        shape = x.shape
        if not shape.is_fully_defined():
            raise NotImplementedError(
                f"tf.hessians needs an x whose shape is known when the graph is built, not " f"{shape}"
            )
        if g is None:
            raise ValueError("tf.hessians: ys does not depend on x")
        flat = raw.Reshape(tensor=g, shape=[-1])
        rows = []
        for i in range(shape.num_elements()):
            part = raw.StridedSlice(input=flat, begin=[i], end=[i + 1], strides=[1], shrink_axis_mask=1)
            row = gradients(part, x, unconnected_gradients=UnconnectedGradients.ZERO)[0]
            rows.append(raw.Reshape(tensor=row, shape=[-1]))
        sizes = shape.as_list()
        out.append(raw.Reshape(tensor=raw.Pack(values=rows, axis=0), shape=sizes + sizes))
    return out
