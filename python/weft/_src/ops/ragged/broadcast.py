"""Elementwise functions of ragged tensors: on flat values where rows agree, else after broadcasting."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.tensor import EagerTensor, Tensor
from weft._src.ops.ragged import checks
from weft._src.ops.ragged.convert import from_tensor
from weft._src.ops.ragged.ragged_tensor import RaggedTensor, as_values
from weft._src.ops.ragged.row_partition import RowPartition, counting


def unary(function, x):
    return x.with_flat_values(function(x.flat_values))


def pair(x, y):
    """Both as tensors or ragged tensors; a plain value takes the other's type where it can."""
    if x is None or y is None:
        convert_to_tensor(x if y is None else y)  # which fails: None is no value for an op of ragged tensors
    hint = next((v.dtype for v in (x, y) if isinstance(v, (RaggedTensor, Tensor, _weft.VariableBase))), None)
    return as_values(x, preferred_dtype=hint), as_values(y, preferred_dtype=hint)


def binary(function, x, y):
    """function(x, y) of which at least one is ragged."""
    x, y = pair(x, y)
    same_splits_dtype((x, y))
    x, y = broadcast(x, y)
    made = function(_flat(x), _flat(y))
    return (x if isinstance(x, RaggedTensor) else y).with_flat_values(made)


def compare(function, x, y):
    """A check of x and y, value by value."""
    x, y = pair(x, y)
    same_splits_dtype((x, y))
    x, y = broadcast(x, y)
    return function(_flat(x), _flat(y))


def _flat(value):
    return value.flat_values if isinstance(value, RaggedTensor) else value


def same_splits_dtype(values):
    if len({v.row_splits.dtype for v in values if isinstance(v, RaggedTensor)}) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use "
            "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
        )


def broadcast(x, y, message=None):
    """x and y with the same rows, or an error that begins with the message. A dense one whose axes are all inner ones stays as it is: the op broadcasts it."""
    rank_x, rank_y = x.shape.rank, y.shape.rank
    if isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor):
        if x.ragged_rank == y.ragged_rank and rank_x == rank_y and _same_rows(x, y):
            return x, y
    elif isinstance(x, RaggedTensor):
        if rank_y is None or rank_y < x.flat_values.shape.rank:
            return x, y
    elif rank_x is None or rank_x < y.flat_values.shape.rank:
        return x, y
    rank = max(rank_x, rank_y)
    depth = max(rank - r + v.ragged_rank for v, r in ((x, rank_x), (y, rank_y)) if isinstance(v, RaggedTensor))
    dtype = (x if isinstance(x, RaggedTensor) else y).row_splits.dtype
    x, y = _nested(x, rank, depth, dtype), _nested(y, rank, depth, dtype)
    if _same_rows(x, y):
        return x, y
    if rank_x > rank_y:
        return _together(y, x, message)[::-1]
    return _together(x, y, message)


def _nested(value, rank, depth, dtype):
    """The value with axes of size 1 in front up to the rank, and with `depth` ragged dimensions."""
    missing = rank - value.shape.rank
    if not isinstance(value, RaggedTensor):
        for _ in range(missing):
            value = raw.ExpandDims(input=value, dim=0)
        return from_tensor(value, ragged_rank=depth, row_splits_dtype=dtype)
    if value.ragged_rank + missing < depth:
        inner = from_tensor(value.flat_values, ragged_rank=depth - missing - value.ragged_rank, row_splits_dtype=dtype)
        value = value.with_flat_values(inner)
    for _ in range(missing):
        value = RaggedTensor._of(
            value,
            RowPartition.from_uniform_row_length(
                value.nrows() if value.shape[0] is None else value.shape[0], nrows=1, validate=False, dtype=dtype
            ),
        )
    return value


def _same_rows(x, y):
    """Whether all rows are known to be of the same lengths."""
    for a, b in zip(x._nested_row_partitions, y._nested_row_partitions):
        p, q = a.row_splits(), b.row_splits()
        if p is q:
            continue
        if not isinstance(p, EagerTensor) or not isinstance(q, EagerTensor):
            return False
        p, q = p.numpy(), q.numpy()
        if p.shape != q.shape or not (p == q).all():
            return False
    return True


def _one(partition, rows):
    """Whether a dimension is of size 1 all along and so may be repeated: True, False, or None where only the graph's
    run tells."""
    length = partition.static_uniform_row_length
    if length is not None:
        return length == 1
    return None if partition.is_uniform() else False


def _together(x, y, message=None):
    """x and y of the same depth, each repeated where it has size 1 and the other has more."""
    dtype = x.row_splits.dtype
    sides = [_Side(x), _Side(y)]
    a, b = (s.value.nrows() for s in sides)
    first = [s.value.shape[0] for s in sides]
    if first[0] is not None and first[0] == first[1]:
        pass
    elif first[1] == 1 or first[0] == 1:
        small, rows = (1, a) if first[1] == 1 else (0, b)
        sides[small].places = raw.ZerosLike(x=counting(rows, dtype))
    elif first[0] is None or first[1] is None:
        rows = raw.Maximum(x=a, y=b)
        for side, own in zip(sides, (a, b)):
            side.places = raw.Mul(
                x=counting(rows, dtype), y=raw.Cast(x=raw.NotEqual(x=own, y=convert_to_tensor(1, dtype)), DstT=dtype)
            )
    else:
        checks.equal(convert_to_tensor(False), convert_to_tensor(True), message)
    splits = []
    for level in range(x.ragged_rank):
        parts = [s.partitions[level] for s in sides]
        ones = [_one(p, None) for p in parts]
        lengths = [s.pick(p.row_lengths()) for s, p in zip(sides, parts)]
        if ones[0] is False and ones[1] is False:
            both = [RowPartition.from_row_lengths(n, validate=False) for n in lengths]
            new = both[0]
            if message is not None:
                checks.equal(*lengths, message)
            elif (
                parts[0].is_uniform()
                and parts[1].is_uniform()
                and None not in (p.static_uniform_row_length for p in parts)
            ):
                same = parts[0].static_uniform_row_length == parts[1].static_uniform_row_length
                checks.equal(convert_to_tensor(same), convert_to_tensor(True))
            else:
                dense_first = both[::-1] if parts[1].is_uniform() and not parts[0].is_uniform() else both
                checks.equal(*(p.row_splits() for p in dense_first))
        elif True in ones and ones[0] != ones[1]:
            new = RowPartition.from_row_lengths(lengths[1 if ones[0] else 0], validate=False)
        elif ones[0] and ones[1]:
            new = RowPartition.from_row_lengths(lengths[0], validate=False)
            ones = [False, False]
        else:
            # Uniform sizes that only the run tells.
            one = convert_to_tensor(1, dtype)
            new = RowPartition.from_row_lengths(
                raw.SelectV2(condition=raw.Equal(x=lengths[0], y=one), t=lengths[1], e=lengths[0]), validate=False
            )
        uniform = _uniform(parts, ones)
        splits.append(RowPartition._of_splits(new.row_splits(), uniform))
        rowids, offsets = new.value_rowids(), new.offsets_in_rows()
        for side, part, one, length in zip(sides, parts, ones, lengths):
            side.step(part, one, length, rowids, offsets, dtype)
    return tuple(RaggedTensor._from_nested_row_partitions(s.flat(), splits, validate=False) for s in sides)


def _uniform(parts, ones):
    known = [p for p, one in zip(parts, ones) if one is not True]
    return known[0].uniform_row_length() if known and all(p.is_uniform() for p in parts) else None


class _Side:
    """One of two values while they are broadcast: `places` says which of its items stands at each place of the result;
    None for each its own."""

    def __init__(self, value):
        self.value, self.partitions, self.places = value, value._nested_row_partitions, None

    def pick(self, tensor):
        return tensor if self.places is None else raw.GatherV2(params=tensor, indices=self.places, axis=0)

    def step(self, partition, one, lengths, rowids, offsets, dtype):
        """From the items of a dimension to those of the next."""
        if self.places is None and one is False:
            return
        starts = raw.GatherV2(params=self.pick(partition.row_starts()), indices=rowids, axis=0)
        if one is True:
            self.places = starts
            return
        if one is None:
            more = raw.GatherV2(
                params=raw.Cast(x=raw.NotEqual(x=lengths, y=convert_to_tensor(1, dtype)), DstT=dtype),
                indices=rowids,
                axis=0,
            )
            offsets = raw.Mul(x=offsets, y=more)
        self.places = raw.AddV2(x=starts, y=offsets)

    def flat(self):
        return self.pick(self.value.flat_values)


def map_flat_values(op, *args, **kwargs):
    """tf.ragged.map_flat_values: op of the flat values of the ragged tensors among the arguments, which have the same
    rows."""
    found = []

    def flat(value):
        if isinstance(value, RaggedTensor):
            found.append(value)
            return value.flat_values
        if isinstance(value, (list, tuple)):
            return type(value)(flat(v) for v in value) if not hasattr(value, "_fields") else value
        if isinstance(value, dict):
            return {k: flat(v) for k, v in value.items()}
        return value

    args, kwargs = flat(list(args)), flat(kwargs)
    if not found:
        return op(*args, **kwargs)
    first = found[0]
    same_splits_dtype(found)
    sizes = {v.flat_values.shape[0] for v in found} - {None}
    if len(sizes) > 1:
        raise ValueError(
            f"Input RaggedTensors' flat_values must all have the same outer-dimension size.  Got sizes: {sizes}"
        )
    for other in found[1:]:
        if other.ragged_rank != first.ragged_rank:
            raise ValueError("All ragged inputs must have the same ragged_rank.")
        if not _same_rows(first, other):
            for p, q in zip(first.nested_row_splits, other.nested_row_splits):
                checks.equal(p, q, "Inputs must have identical ragged splits")
    made = op(*args, **kwargs)
    size, rows = made.shape[0] if made.shape.rank else None, first.flat_values.shape[0]
    if made.shape.rank == 0 or (size is not None and rows is not None and size != rows):
        raise ValueError(
            f"tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension "
            f"size as flat_values of any ragged inputs. "
            f"(output shape: {made.shape}; expected outer dimension size: {rows})"
        )
    return first.with_flat_values(made)
