"""How the results of ops are laid out: rules of the layouts, shapes and values of their inputs. Which rule an op has its
spec says (src/op/layout_rule.h), and what the rule needs to know of the op; here is what each rule computes. Those of
matrices and elements are here, those that move elements in rules_moves.py.

A layout is here a tuple of names of mesh dimensions, UNSHARDED where the dimension is whole. What TensorFlow does is
the measure, also where another layout would do."""

import functools
import importlib

from weft import _weft
from weft._src.dtensor.layout import UNSHARDED
from weft._src.framework import errors

_rules = {"one_device": None}  # name -> rule(c), which gives the specs of its outputs, or one for all of them


def rule(function):
    """What the rule of the function's name computes; `_` is behind the names that Python has."""
    _rules[function.__name__.rstrip("_")] = function
    return function


@functools.cache
def _load():
    importlib.import_module("weft._src.dtensor.rules_moves")


class LayoutRule:
    """What the op's spec says: the rule's name, and what it needs to know of the op. `input` is the input whose layout
    counts, `axis` the one whose value names dimensions (None: there is none), `transposed` attributes of a product."""

    def __init__(self, op):
        _load()
        self.name, self.input, self.axis, self.transposed = _weft.layout_rule(op)
        self.compute = _rules.get(self.name)  # None for what tensors.py runs in its own way: calls, variables


find = functools.cache(LayoutRule)


class Context:
    """What a rule may ask for."""

    def __init__(self, call, mesh, specs, inputs, outputs):
        self.op, self.attr, self.mesh, self.specs = call.op, call.attr, mesh, specs
        self.rule = find(call.op)
        self._inputs = inputs  # without layouts
        self.shapes = [tuple(t.shape) for t in inputs]
        self.out_shapes = [tuple(t.shape) for t in outputs]

    def value(self, i):
        """The value of an input that is no data, as nested lists."""
        return self._inputs[i]._to_list()

    def divides(self, spec, size):
        return spec == UNSHARDED or size % self.mesh.dim_size(spec) == 0

    def fail(self, text):
        raise unsupported(self.op, text)


def unsupported(op, text):
    """What TensorFlow cannot lay out. It does not name the op where the program gave the layout."""
    place = f'loc(fused["{op}:", "eager_operation"]): ' if op else ""
    return errors.UnknownError(None, None, f"<unknown>:0: error: {place}{text}")


def whole(rank):
    return (UNSHARDED,) * rank


# ---- elements ------------------------------------------------------------------------------------------


def merge(rank, specs):
    """The layout that inputs of these specs, aligned at their last dimensions, have together. The first one that cuts
    a dimension has its way; a mesh dimension that would cut two dimensions cuts none of them."""
    found = [[] for _ in range(rank)]
    for spec in specs:
        for i, name in enumerate(spec):
            if name != UNSHARDED:
                found[i + rank - len(spec)].append(name)
    places = {}
    for i, names in enumerate(found):
        for name in names:
            places.setdefault(name, set()).add(i)
    clash = {name for name, at in places.items() if len(at) > 1}
    return tuple(UNSHARDED if not names or clash & set(names) else names[0] for names in found)


def _aligned(c):
    """Specs of the inputs, without those of dimensions that are broadcast."""
    out = c.out_shapes[0]
    for spec, shape in zip(c.specs, c.shapes):
        wide = out[len(out) - len(shape) :]
        yield tuple(UNSHARDED if d == 1 and n != 1 else s for s, d, n in zip(spec, shape, wide))


@rule
def elementwise(c):
    return merge(len(c.out_shapes[0]), _aligned(c))


@rule
def sum_of_inputs(c):
    return elementwise(c)


@rule
def first_cut(c):
    """Here an input that comes later does not undo what the earlier ones have cut."""
    out = [UNSHARDED] * len(c.out_shapes[0])
    for spec in _aligned(c):
        for i, name in enumerate(spec, len(out) - len(spec)):
            if out[i] == UNSHARDED and name not in out:
                out[i] = name
    return tuple(out)


@rule
def each_input(c):
    return list(c.specs)


@rule
def bias(c):
    axis = len(c.shapes[0]) - 1 if c.attr("data_format") != b"NCHW" else 1
    channels = tuple(c.specs[1][0] if i == axis else UNSHARDED for i in range(len(c.shapes[0])))
    return merge(len(c.shapes[0]), [c.specs[0], channels])


@rule
def bias_gradient(c):
    return (c.specs[0][-1 if c.attr("data_format") != b"NCHW" else 1],)


@rule
def cross_entropy(c):
    """The labels are as the logits, or one for each row."""
    labels = c.specs[1] + whole(2 - len(c.specs[1]))
    logits = merge(2, [c.specs[0], labels])
    return [logits[:1], logits]


# ---- reductions ----------------------------------------------------------------------------------------


def _axes(value, rank):
    return {a % rank for a in (value if isinstance(value, list) else [value])} if rank else set()


@rule
def reduction(c):
    axes = _axes(c.value(c.rule.axis), len(c.shapes[0]))
    if c.attr("keep_dims"):
        return tuple(UNSHARDED if i in axes else s for i, s in enumerate(c.specs[0]))
    return tuple(s for i, s in enumerate(c.specs[0]) if i not in axes)


@rule
def whole_along(c):
    """Along the last dimension where the op names none."""
    rank = len(c.shapes[0])
    axes = {rank - 1} if c.rule.axis is None else _axes(c.value(c.rule.axis), rank)
    return tuple(UNSHARDED if i in axes else s for i, s in enumerate(c.specs[0]))


@rule
def in_top_k(c):
    return merge(1, [c.specs[0][:1], c.specs[1]])


# ---- products ------------------------------------------------------------------------------------------


def contract(c, operands, out, fail):
    """operands: labels of the dimensions of the inputs; out: those of the result. fail(label, names) refuses a contracted
    dimension that the inputs cut in several ways."""
    cuts = {}
    for labels, spec in zip(operands, c.specs):
        for label, name in zip(labels, spec):
            if name != UNSHARDED:
                cuts.setdefault(label, []).append(name)
    for label, names in cuts.items():
        if label not in out and len(set(names)) > 1:
            fail(label, names)
    chosen = [cuts[label][0] if label in cuts else UNSHARDED for label in out]
    return tuple(UNSHARDED if name != UNSHARDED and chosen.count(name) > 1 else name for name in chosen)


@rule
def product(c):
    def fail(label, names):
        c.fail(
            f"Contracting dimension for matmul has sharding dimension {names[0]} for the left input and {names[1]} "
            "for the right input which are not equal. This case is currently not supported."
        )

    first, second = c.rule.transposed
    a = ["k", "i"] if c.attr(first) else ["i", "k"]
    b = ["j", "k"] if c.attr(second) else ["k", "j"]
    rank = len(c.out_shapes[0])
    batch = list(range(rank - 2))
    labels = [batch[rank - len(shape) :] + end for shape, end in zip(c.shapes, (a, b))]
    return contract(c, labels, batch + ["i", "j"], fail)


@rule
def einsum(c):
    def fail(label, names):
        first, second = sorted(set(names))
        text = f"label '{label}' is mapped to mesh dimension '{first}' and '{second}'"
        c.fail("incompatible mesh dimensions in equation, " + text)

    equation = c.attr("equation").decode()
    left, _, out = equation.partition("->")
    if "." in equation:
        return whole(len(c.out_shapes[0]))
    return contract(c, left.split(","), out, fail)


# ---- images --------------------------------------------------------------------------------------------


@rule
def batch(c):
    return c.specs[c.rule.input][:1] + whole(len(c.out_shapes[0]) - 1)


@rule
def as_input(c):
    return c.specs[c.rule.input]


@rule
def batch_norm(c):
    return [c.specs[0], *(whole(len(shape)) for shape in c.out_shapes[1:])]


# ---- what is the same everywhere ------------------------------------------------------------------------


@rule
def replicated(c):
    return [whole(len(shape)) for shape in c.out_shapes]


@rule
def random(c):
    """Until their parts have numbers of their own (random_numbers.py)."""
    return replicated(c)
