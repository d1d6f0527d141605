"""Checks of what ragged tensors are made of: at once where values are there, as Assert ops in graphs."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import errors
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.tensor import EagerTensor


def _shown(array):
    return str(array.reshape(-1)[:3])


def non_negative(x, message, name=""):
    """Every element is at least 0."""
    if isinstance(x, EagerTensor) and not _weft.in_graph():
        array = x.numpy()
        if (array < 0).any():
            flat = [str(v) for v in array.reshape(-1).tolist()]
            shown = flat[:3] + (["..."] if len(flat) > 3 else [])
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{message}\nCondition x >= 0 did not hold element-wise:\nx "
                f"(shape={x.shape} dtype={x.dtype.name}) = \n{shown}",
            )
        return
    _assert(raw.GreaterEqual(x=x, y=raw.ZerosLike(x=x)), [message, "Condition x >= 0 did not hold element-wise:", x])


def equal(x, y, message=None):
    """Two tensors are equal; shapes of other sizes are not."""
    _compare(x, y, message, "==", raw.Equal)


def at_most(x, y, message=None):
    _compare(x, y, message, "<=", raw.LessEqual)


def _compare(x, y, message, sign, op):
    x = convert_to_tensor(x)
    y = convert_to_tensor(y, x.dtype)
    if isinstance(x, EagerTensor) and isinstance(y, EagerTensor) and not _weft.in_graph():
        a, b = x.numpy(), y.numpy()
        if a.shape != b.shape and a.ndim and b.ndim:
            text = f"{message or ''}Incompatible shapes: {list(a.shape)} vs. {list(b.shape)}"
            raise errors.InvalidArgumentError(None, None, _weft.called_text(text, op.op_name))
        holds = a == b if sign == "==" else a <= b
        if holds.all():
            return
        lines = [f"Condition x {sign} y did not hold."]
        if a.ndim and sign == "==":
            import numpy as np

            where = np.argwhere(~holds)[:3]
            at = tuple(where.T)
            lines += [
                f"Indices of first {len(where)} different values:",
                str(where),
                "Corresponding x values:",
                str(a[at]),
                "Corresponding y values:",
                str(b[at]),
            ]
        for label, array in (("x", a), ("y", b)):
            lines += [f"First {min(3, array.size)} elements of {label}:", _shown(array)]
        raise errors.InvalidArgumentError(None, None, "\n".join(([message] if message else []) + lines))
    _assert(op(x=x, y=y), [message or "", f"Condition x {sign} y did not hold element-wise:", x, y])


def true(condition, *data):
    """All of a condition holds; the data are shown where it does not."""
    if isinstance(condition, EagerTensor) and not _weft.in_graph():
        if not condition.numpy().all():
            raise errors.InvalidArgumentError(
                None,
                None,
                "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
                + "\n".join(_summary(d) for d in data),
            )
        return
    _assert(condition, list(data))


def _summary(value):
    if isinstance(value, str):
        return str(value.encode())
    flat = [str(v) for v in value.numpy().reshape(-1).tolist()]
    return ", ".join(flat[:3] + (["..."] if len(flat) > 3 else []))


def _assert(condition, data):
    if condition.shape.rank != 0:
        axes = raw.Range(start=0, limit=raw.Rank(input=condition), delta=1)
        condition = raw.All(input=condition, reduction_indices=axes)
    raw.Assert(condition=condition, data=data, summarize=3)
