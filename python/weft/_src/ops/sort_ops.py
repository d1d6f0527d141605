"""tf.sort, tf.argsort, tf.searchsorted."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.tensor import Tensor
from weft._src.ops._direct import scope


@dispatchable
def sort(values, axis=-1, direction="ASCENDING", name=None):
    """The elements in order along an axis."""
    with scope(name, "sort"):
        return _sorted(values, axis, direction, places=False)


@dispatchable
def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The places of the elements in order along an axis."""
    with scope(name, "argsort"):
        return _sorted(values, axis, direction, places=True)


def _sorted(values, axis, direction, places):
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"Argument `direction` should be one of ASCENDING, DESCENDING. Received: direction={direction}"
        )
    if isinstance(axis, Tensor):
        known = constant_value(axis)
        if known is None:
            raise ValueError(f"Argument `axis` must be a constant scalar. Received: axis={axis}.")
        axis = int(known)
    values = convert_to_tensor(values, name="values")
    flipped = _mirror(values) if direction == "ASCENDING" else values
    rank = values.shape.rank
    if rank is None and axis != -1:
        raise NotImplementedError("sorting a tensor without a known rank along another axis than the last")
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(f"Argument `axis` must be in [-{rank}, {rank}), got {axis}")
    swap = None
    if axis != -1 and axis % rank != rank - 1:
        swap = list(range(rank))
        swap[axis % rank], swap[-1] = rank - 1, axis % rank
        flipped = raw.Transpose(x=flipped, perm=swap)
    from weft._src.ops.array_ops import shape

    best, where = raw.TopKV2(input=flipped, k=shape(flipped)[-1], sorted=True)
    out = where if places else best
    if swap is not None:
        out = raw.Transpose(x=out, perm=swap)
    return out if places or direction == "DESCENDING" else _mirror(out)


def _mirror(values):
    """The same elements in the opposite order of size; its own inverse."""
    dtype = values.dtype
    if dtype.is_unsigned:
        return raw.Sub(x=convert_to_tensor(dtype.max, dtype), y=values)
    if dtype.is_integer:
        return raw.Sub(x=convert_to_tensor(-1, dtype), y=values)
    return raw.Neg(x=values)


@dispatchable
def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32, name=None):
    """Where values would go into rows that are in order."""
    from weft._src.ops.array_ops import reshape, shape

    with scope(name, "searchsorted"):
        rows = convert_to_tensor(sorted_sequence)
        values = convert_to_tensor(values, rows.dtype)
        wide, sizes = shape(rows)[-1:], shape(values)
        rows = reshape(rows, raw.ConcatV2(values=[[-1], wide], axis=0))
        flat = reshape(values, raw.ConcatV2(values=[[-1], sizes[-1:]], axis=0))
        if side not in ("left", "right"):
            raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'.")
        found = (raw.UpperBound if side == "right" else raw.LowerBound)(
            sorted_inputs=rows, values=flat, out_type=out_type
        )
        return reshape(found, sizes)
