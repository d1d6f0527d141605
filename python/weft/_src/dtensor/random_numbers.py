"""Random numbers with a layout: every part has numbers of its own, since TensorFlow mixes its place into the seed.

So the numbers depend on the layout, and in a function that is the one of whatever they meet first: until then they
wait, with the elementwise ops that were done to them."""

import functools
import itertools

from weft import _weft
from weft._src.raw import raw
from weft._src.dtensor import rules, tensors
from weft._src.dtensor.layout import UNSHARDED, Layout
from weft._src.framework import dtypes

_FIRST_SEED = 65521  # the largest prime of 16 bits
_SEED_STEP = 65536


@tensors.special("unseeded_random")
def _stateful(call, inputs, mesh):
    raise rules.unsupported(
        call.op,
        f"'tf.{call.op}' op ComputeLayoutForward error: Stateful random operations are not supported in DTensor. Please "
        "use stateless random operations instead.",
    )


@tensors.special("random")
def _stateless(call, inputs, mesh):
    layout = tensors.scope.layout
    make = functools.partial(_numbers, _repeatable(call), rules.find(call.op).input, [tensors.plain(t) for t in inputs])
    if layout is not None and not layout.is_fully_replicated():
        return [tensors.with_layout(make(layout), layout, call.op)]
    out = tensors.laid_out(call, inputs, call.run(inputs), mesh)
    if tensors.scope.in_function:
        _wait(out[0], make)
    return out


def _repeatable(call):
    """The op as a function of its inputs."""
    op = getattr(raw, call.op)
    return functools.partial(op, **{name: call.attr(name) for name in op.parameters[len(op.inputs) :]})


def _numbers(op, at, inputs, layout):
    """All numbers of a layout; the seed or key is input `at`."""
    shape = tuple(inputs[0]._to_list())
    if layout.is_fully_replicated():
        return op(*inputs)
    tensors.check_fits("", shape, layout)
    steps, product = {}, _SEED_STEP
    for name in layout.mesh.dim_names:
        if name in layout._specs:
            steps[name] = product
            product *= layout.mesh.dim_size(name)
    seed = inputs[at]
    local = _weft.convert(list(layout.local_shape_from_global_shape(shape)), dtypes.int32, None)
    by_place = {}
    for place in itertools.product(*(range(layout.num_shards(i)) for i in range(layout.rank))):
        part = _FIRST_SEED + sum(p * steps[name] for p, name in zip(place, layout._specs) if name != UNSHARDED)
        mixed = raw.BitwiseXor(x=seed, y=raw.Cast(x=part, DstT=seed.dtype))
        by_place[place] = op(local, mixed, *inputs[at + 1 :])
    return tensors.assemble(by_place, layout)


# ---- waiting -------------------------------------------------------------------------------------------


def _wait(tensor, make):
    """make(layout) gives the tensor's value for a layout. The tensor is held: it is known by its address."""
    tensors.scope.waiting[tensor._identity()] = (tensor, make)


def _waits(tensor):
    return bool(tensors.scope.waiting) and tensor._identity() in tensors.scope.waiting


def laid_out_so(tensor, layout):
    """The tensor, with the numbers that it has in this layout if it waited for one."""
    if not _waits(tensor) or layout.rank != len(tensor.shape):
        return tensor
    make = tensors.scope.waiting[tensor._identity()][1]
    with tensors.running(mesh=None, layout=None):
        return make(layout)


def _fitted(layout, shape):
    """The layout of an input that is broadcast to a tensor of the layout."""
    specs = layout._specs[layout.rank - len(shape) :]
    return Layout._make([UNSHARDED if size == 1 else name for name, size in zip(specs, shape)], layout.mesh)


def run(call, inputs, mesh):
    """An op while numbers wait: of elements it may tell them their layout, or waits with them."""
    rule = rules.find(call.op).compute
    waiting = [_waits(t) for t in inputs]
    if not any(waiting) or rule not in (rules.elementwise, rules.first_cut):
        return tensors.laid_out(call, inputs, call.run(inputs), mesh)
    out = tensors.laid_out(call, inputs, call.run(inputs), mesh)
    layout = tensors.layout_of(out[0])
    if layout.is_fully_replicated():
        held = [tensors.scope.waiting[t._identity()][1] if w else None for t, w in zip(inputs, waiting)]
        _wait(out[0], functools.partial(_elements, _repeatable(call), [tensors.plain(t) for t in inputs], held))
        return out
    settled = []
    for t, waits in zip(inputs, waiting):
        fitted = _fitted(layout, tuple(t.shape)) if waits else None
        settled.append(tensors.with_layout(laid_out_so(t, fitted), fitted, call.op) if waits else t)
    return tensors.laid_out(call, settled, call.run(settled), mesh)


def _elements(op, inputs, held, layout):
    """What an op of elements gives for a layout of its result."""
    values = [make(_fitted(layout, tuple(t.shape))) if make else t for t, make in zip(inputs, held)]
    return op(*values)
