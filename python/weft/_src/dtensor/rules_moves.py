"""How the results are laid out of ops that move, cut, repeat or make elements."""

from weft._src.dtensor.layout import UNSHARDED
from weft._src.dtensor.rules import rule, whole


def pairs(before, after):
    """Pairs of ranges of dimensions that hold the same elements, as short as they can be."""
    i = j = 0
    while i < len(before) or j < len(after):
        start, other = i, j
        m = before[i] if i < len(before) else 1
        n = after[j] if j < len(after) else 1
        i, j = min(i + 1, len(before)), min(j + 1, len(after))
        while m != n and (i < len(before) or j < len(after)):
            if (m < n and i < len(before)) or j == len(after):
                m *= before[i]
                i += 1
            else:
                n *= after[j]
                j += 1
        yield (start, i), (other, j)


@rule
def reshape(c):
    """A run of dimensions that become others stays cut if its first one is; dimensions of size 1 do not count."""
    before = [(d, s) for d, s in zip(c.shapes[0], c.specs[0]) if d != 1]
    places = [i for i, d in enumerate(c.out_shapes[0]) if d != 1]
    out = [UNSHARDED] * len(c.out_shapes[0])
    if 0 in c.shapes[0]:
        return tuple(out)
    after = [c.out_shapes[0][i] for i in places]
    for (i, _), (j, end) in pairs([d for d, _ in before], after):
        if j < end and i < len(before) and c.divides(before[i][1], after[j]):
            out[places[j]] = before[i][1]
    return tuple(out)


@rule
def transpose(c):
    return tuple(c.specs[0][i] for i in c.value(1))


@rule
def expand_dims(c):
    axis = c.value(1)
    axis = axis[0] if isinstance(axis, list) else axis
    axis %= len(c.out_shapes[0])
    return c.specs[0][:axis] + (UNSHARDED,) + c.specs[0][axis:]


@rule
def squeeze(c):
    rank = len(c.shapes[0])
    dims = {d % rank for d in c.attr("squeeze_dims")} or {i for i, d in enumerate(c.shapes[0]) if d == 1}
    return tuple(s for i, s in enumerate(c.specs[0]) if i not in dims)


def _first_cut(rank, specs):
    """By dimension: how the first input that is cut there is cut; each mesh dimension once."""
    out = []
    for i in range(rank):
        names = [spec[i] for spec in specs if spec[i] != UNSHARDED and spec[i] not in out]
        out.append(names[0] if names else UNSHARDED)
    return tuple(out)


@rule
def concat(c):
    values = list(c.specs)
    del values[c.rule.axis]
    rank = len(c.out_shapes[0])
    axis = c.value(c.rule.axis) % rank
    return tuple(UNSHARDED if i == axis else s for i, s in enumerate(_first_cut(rank, values)))


@rule
def pack(c):
    """TensorFlow loses the cut of the last dimension where there are several."""
    rank = len(c.out_shapes[0])
    axis = c.attr("axis") % rank
    spec = _first_cut(rank - 1, c.specs)
    if rank > 2:
        spec = spec[:-1] + (UNSHARDED,)
    return spec[:axis] + (UNSHARDED,) + spec[axis:]


@rule
def unpack(c):
    axis = c.attr("axis") % len(c.shapes[0])
    return c.specs[0][:axis] + c.specs[0][axis + 1 :]


@rule
def split(c):
    value = c.rule.input
    axis = c.value(c.rule.axis) % len(c.shapes[value])
    cut = c.specs[value][axis]
    # What cannot be cut any more is refused for that, by whoever lays it out.
    if cut != UNSHARDED and all(c.divides(cut, shape[axis]) for shape in c.out_shapes):
        c.fail("Spliting over sharded dimension is not supported.")
    return c.specs[value]


@rule
def tile(c):
    if any(n > 1 and s != UNSHARDED for n, s in zip(c.value(1), c.specs[0])):
        c.fail("tile op with input sharded at dimension where `multiple` > 1 is not supported.")
    return c.specs[0]


@rule
def broadcast_to(c):
    rank = len(c.out_shapes[0])
    wide = c.out_shapes[0][rank - len(c.shapes[0]) :]
    kept = tuple(s if d == n else UNSHARDED for s, d, n in zip(c.specs[0], c.shapes[0], wide))
    return whole(rank - len(kept)) + kept


@rule
def pad(c):
    for i, (spec, ends) in enumerate(zip(c.specs[0], c.value(1))):
        if spec != UNSHARDED and any(ends):
            c.fail(
                f"'tf.DTensorLayout' op requires dimension {i} to be divisible by sharding specified in DTensorLayout, "
                f"but got dimension size={c.out_shapes[0][i]} is not divisible by number of shards in layout for this "
                f"dimension={c.mesh.dim_size(spec)}."
            )
    return c.specs[0]


@rule
def one_hot(c):
    axis = c.attr("axis") % len(c.out_shapes[0])
    return c.specs[0][:axis] + (UNSHARDED,) + c.specs[0][axis:]


def _picked(before, indices, after):
    """Dimensions of indices in place of others, as far as they are cut otherwise than those that stay."""
    kept = before + after
    return before + tuple(UNSHARDED if name in kept else name for name in indices) + after


@rule
def gather(c):
    params, indices = c.specs[0], c.specs[1]
    axis = 0 if c.rule.axis is None else c.value(c.rule.axis) % len(params)
    batch = c.attr("batch_dims") or 0
    return _picked(params[:axis], indices[batch:], params[axis + 1 :])


@rule
def gather_variable(c):
    if c.specs[0][0] != UNSHARDED:
        c.fail(
            "DTensor does not support sharded 0th dimension for the resource tensor for ResourceGatherOp. Please "
            "unshard dimension 0"
        )
    return _picked((), c.specs[1], c.specs[0][1:])


@rule
def gather_nd(c):
    depth = c.shapes[1][-1]
    return _picked((), c.specs[1][:-1], c.specs[0][depth:])


@rule
def update_nd(c):
    depth = c.shapes[1][-1]
    return whole(depth) + c.specs[0][depth:]


@rule
def scatter_nd(c):
    depth = c.shapes[0][-1]
    updates = c.specs[1][len(c.shapes[0]) - 1 :]
    return whole(depth) + updates


@rule
def segments(c):
    return (UNSHARDED,) + c.specs[0][len(c.shapes[1]) :]


@rule
def slice_(c):
    return tuple(s if d == n else UNSHARDED for s, d, n in zip(c.specs[0], c.shapes[0], c.out_shapes[0]))


def _slices(c, rank, begin, end):
    """How x[...] walks over the dimensions: (kind, dimension, its begin and end; None where it is whole there)."""
    masks = {name: c.attr(name + "_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    on = lambda name, i: masks[name] >> i & 1  # noqa: E731
    fixed = sum(1 for i in range(len(begin)) if not on("new_axis", i) and not on("ellipsis", i))
    at = 0
    for i in range(len(begin)):
        if on("ellipsis", i):
            for _ in range(rank - fixed):
                yield "range", at, None, None
                at += 1
        elif on("new_axis", i):
            yield "new", None, None, None
        else:
            first = None if on("begin", i) else begin[i]
            yield "one" if on("shrink_axis", i) else "range", at, first, None if on("end", i) else end[i]
            at += 1
    for i in range(at, rank):
        yield "range", i, None, None


@rule
def strided_slice(c):
    """x[i] of a matrix keeps the names of the first dimensions, as TensorFlow has it."""
    out, kinds = [], set()
    for kind, at, first, last in _slices(c, len(c.shapes[0]), c.value(1), c.value(2)):
        kinds.add(kind)
        if kind == "new":
            out.append(UNSHARDED)
        elif kind == "range":
            size = c.shapes[0][at]
            whole_range = first in (None, 0, -size) and (last is None or last >= size)
            out.append(c.specs[0][at] if whole_range else UNSHARDED)
    if "one" in kinds and "new" not in kinds:
        return c.specs[0][: len(out)]
    return tuple(out)


@rule
def strided_slice_gradient(c):
    """What was sliced is cut as the gradient, where that is as large."""
    shape, spec, sizes = c.out_shapes[0], iter(c.specs[4]), iter(c.shapes[4])
    out = [UNSHARDED] * len(shape)
    for kind, at, _, _ in _slices(c, len(shape), c.value(1), c.value(2)):
        if kind == "one":
            continue
        name, size = next(spec), next(sizes)
        if kind == "range" and size == shape[at]:
            out[at] = name
    return tuple(out)
