"""How the results of ops are laid out: a rule for each op, of the layouts, shapes and values of its inputs. Those of
matrices and elements are here, those that move elements in rules_moves.py. Which ops are elementwise, reduce or ask
for a shape the engine knows; the other rules are here by name, since which ops there are is TensorFlow's choice.

A layout is here a tuple of names of mesh dimensions, UNSHARDED where the dimension is whole. What TensorFlow does is
the measure, also where another layout would do."""

import functools
import importlib

from weft import _weft
from weft._src.dtensor.layout import UNSHARDED
from weft._src.framework import errors

_rules = {}  # op -> rule(c), which gives the specs of its outputs, or one for all of them


def rule(*ops):
    def register(function):
        for names in ops:
            for name in names.split():
                _rules[name] = function
        return function

    return register


@functools.cache
def _load():
    importlib.import_module("weft._src.dtensor.rules_moves")


@functools.cache
def find(op):
    """The op's rule; None where it has none."""
    _load()
    if op in _rules:
        return _rules[op]
    traits = _weft.op_traits(op)
    if traits["shape_query"]:
        return all_whole
    if traits["reduction"]:
        return reduction
    of_elements = traits["elementwise"] or traits["fills_like"] or traits["forwards"]
    return elementwise if of_elements and not traits["strings"] and op not in _ON_ONE_DEVICE else None


class Context:
    """What a rule may ask for."""

    def __init__(self, call, mesh, specs, inputs, outputs):
        self.op, self.attr, self.mesh, self.specs = call.op, call.attr, mesh, specs
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


# Elementwise ops that TensorFlow does not lay out.
_ON_ONE_DEVICE = frozenset(
    """
AccumulateNV2 ApproximateEqual BesselI0 BesselI1 BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0
BesselY1 Bucketize Dawsn DebugGradientIdentity Expint FresnelCos FresnelSin Spence
""".split()
)


# Beside those that the engine knows by their traits.
@rule("DeepCopy EnsureShape LogSoftmax QuantizeAndDequantize Softmax")
def elementwise(c):
    return merge(len(c.out_shapes[0]), _aligned(c))


@rule("Select SelectV2")
def select(c):
    """Here an input that comes later does not undo what the earlier ones have cut."""
    out = [UNSHARDED] * len(c.out_shapes[0])
    for spec in _aligned(c):
        for i, name in enumerate(spec, len(out) - len(spec)):
            if out[i] == UNSHARDED and name not in out:
                out[i] = name
    return tuple(out)


@rule("IdentityN")
def each_its_own(c):
    return list(c.specs)


@rule("BiasAdd")
def bias_add(c):
    axis = len(c.shapes[0]) - 1 if c.attr("data_format") != b"NCHW" else 1
    bias = tuple(c.specs[1][0] if i == axis else UNSHARDED for i in range(len(c.shapes[0])))
    return merge(len(c.shapes[0]), [c.specs[0], bias])


@rule("BiasAddGrad")
def bias_add_grad(c):
    return (c.specs[0][-1 if c.attr("data_format") != b"NCHW" else 1],)


@rule("SoftmaxCrossEntropyWithLogits")
def cross_entropy(c):
    logits = merge(2, c.specs[:2])
    return [logits[:1], logits]


@rule("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(c):
    logits = merge(2, [c.specs[0], (c.specs[1][0], UNSHARDED)])
    return [logits[:1], logits]


# ---- reductions ----------------------------------------------------------------------------------------


def _axes(value, rank):
    return {a % rank for a in (value if isinstance(value, list) else [value])} if rank else set()


# Beside those that the engine knows by their traits.
@rule("EuclideanNorm")
def reduction(c):
    axes = _axes(c.value(1), len(c.shapes[0]))
    if c.attr("keep_dims"):
        return tuple(UNSHARDED if i in axes else s for i, s in enumerate(c.specs[0]))
    return tuple(s for i, s in enumerate(c.specs[0]) if i not in axes)


@rule("ArgMax ArgMin")
def arg_extreme(c):
    axes = _axes(c.value(1), len(c.shapes[0]))
    return tuple(s for i, s in enumerate(c.specs[0]) if i not in axes)


@rule("L2Loss")
def to_scalar(c):
    return ()


@rule("Cumprod Cumsum CumulativeLogsumexp")
def scan(c):
    axes = _axes(c.value(1), len(c.shapes[0]))
    return tuple(UNSHARDED if i in axes else s for i, s in enumerate(c.specs[0]))


@rule("TopK TopKV2")
def last_is_whole(c):
    return c.specs[0][:-1] + (UNSHARDED,)


@rule("InTopK InTopKV2")
def in_top_k(c):
    return merge(1, [c.specs[0][:1], c.specs[1]])


# ---- products ------------------------------------------------------------------------------------------


def contract(c, operands, out):
    """operands: labels of the dimensions of the inputs; out: those of the result."""
    cuts = {}
    for labels, spec in zip(operands, c.specs):
        for label, name in zip(labels, spec):
            if name != UNSHARDED:
                cuts.setdefault(label, []).append(name)
    for label, names in cuts.items():
        if label not in out and len(set(names)) > 1:
            if c.op == "Einsum":
                first, second = sorted(set(names))
                text = f"label '{label}' is mapped to mesh dimension '{first}' and '{second}'"
                c.fail("incompatible mesh dimensions in equation, " + text)
            c.fail(
                f"Contracting dimension for matmul has sharding dimension {names[0]} for the left input and {names[1]} "
                "for the right input which are not equal. This case is currently not supported."
            )
    chosen = [cuts[label][0] if label in cuts else UNSHARDED for label in out]
    return tuple(UNSHARDED if name != UNSHARDED and chosen.count(name) > 1 else name for name in chosen)


@rule("MatMul")
def matmul(c):
    a = "ki" if c.attr("transpose_a") else "ik"
    b = "jk" if c.attr("transpose_b") else "kj"
    return contract(c, [a, b], "ij")


@rule("BatchMatMul BatchMatMulV2 BatchMatMulV3")
def batch_matmul(c):
    a = ["k", "i"] if c.attr("adj_x") else ["i", "k"]
    b = ["j", "k"] if c.attr("adj_y") else ["k", "j"]
    rank = len(c.out_shapes[0])
    batch = list(range(rank - 2))
    labels = [batch[rank - len(shape) :] + end for shape, end in zip(c.shapes, (a, b))]
    return contract(c, labels, batch + ["i", "j"])


@rule("Einsum")
def einsum(c):
    equation = c.attr("equation").decode()
    left, _, out = equation.partition("->")
    if "." in equation:
        return whole(len(c.out_shapes[0]))
    return contract(c, left.split(","), out)


# ---- images --------------------------------------------------------------------------------------------


@rule("AvgPool Conv2D Conv3D DepthwiseConv2dNative MaxPool AvgPool3D MaxPool3D")
def batch_alone(c):
    return c.specs[0][:1] + whole(len(c.out_shapes[0]) - 1)


@rule("Conv2DBackpropInput Conv3DBackpropInputV2 DepthwiseConv2dNativeBackpropInput")
def batch_of_gradient(c):
    return c.specs[2][:1] + whole(len(c.out_shapes[0]) - 1)


@rule("AvgPoolGrad")
def batch_of_pooled(c):
    return c.specs[1][:1] + whole(len(c.out_shapes[0]) - 1)


@rule("MaxPoolGrad")
def as_the_first(c):
    return c.specs[0]


@rule("Conv2DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropFilter")
def all_whole(c):
    return [whole(len(shape)) for shape in c.out_shapes]


@rule("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3")
def batch_norm(c):
    return [c.specs[0], *(whole(len(shape)) for shape in c.out_shapes[1:])]
