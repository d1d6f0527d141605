"""Ops by the names that TensorFlow's generated modules (gen_array_ops and its like) give them: `assign_variable_op` is AssignVariableOp."""

import functools
import re

from weft import _weft


def python_name(op):
    """TensorFlow's Python name of an op: AssignVariableOp is assign_variable_op, Conv2D conv2d, SparseMatMul sparse_mat_mul."""
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", op)
    name = re.sub(r"([a-z\d])([A-Z])", lambda m: m[0] if m[0][0].isdigit() and m[2] == "D" else f"{m[1]}_{m[2]}", name)
    return name.lower()


@functools.cache
def _names():
    return {python_name(op): op for op in reversed(_weft.op_names())}


def find_op(name):
    """A function of the op's arguments, by place or name; None where no op has this name."""
    op = _names().get(name) or _names().get(name.removeprefix("_"))
    if op is None:
        return None
    from weft._src.ops import raw_ops

    raw = getattr(raw_ops, op)
    parameters = [*raw._parameters, "name"]

    def call(*args, **kwargs):
        return raw(**dict(zip(parameters, args)), **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = raw.__doc__
    call.__signature__ = raw.__signature__
    return call
