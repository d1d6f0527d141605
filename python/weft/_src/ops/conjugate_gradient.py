"""tf.linalg.experimental.conjugate_gradient."""

import collections

from weft import _weft
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.ops import array_ops, linalg_ops, math_ops
from weft._src.ops._direct import scope

CGState = collections.namedtuple("CGState", ["i", "x", "r", "p", "gamma"])


def _dot(a, b):
    return math_ops.reduce_sum(math_ops.conj(a) * b, axis=-1)


@dispatchable
def conjugate_gradient(operator, rhs, preconditioner=None, x=None, tol=1e-05, max_iter=20, name="conjugate_gradient"):
    """x of A x = rhs for positive definite operators, step by step; the state when it ended."""
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    prepared = (lambda r: r) if preconditioner is None else preconditioner.matvec
    with scope(name, "conjugate_gradient"):
        rhs = convert_to_tensor(rhs)
        lead = array_ops.broadcast_dynamic_shape(array_ops.shape(rhs)[:-1], operator.batch_shape_tensor())
        if preconditioner is not None:
            lead = array_ops.broadcast_dynamic_shape(lead, preconditioner.batch_shape_tensor())
        wide = array_ops.concat([lead, array_ops.shape(rhs)[-1:]], 0)
        r = array_ops.broadcast_to(rhs, wide)
        limit = tol * linalg_ops.norm(r, axis=-1)
        if x is None:
            x = array_ops.zeros(wide, rhs.dtype)
        else:
            r = rhs - operator.matvec(x)
        p = prepared(r)
        state = CGState(convert_to_tensor(0, dtypes.int32), x, r, p, _dot(r, p))

        def goes_on(*state):
            state = CGState(*state)
            return math_ops.logical_and(
                state.i < max_iter, math_ops.reduce_any(linalg_ops.norm(state.r, axis=-1) > limit)
            )

        def step(*state):
            i, x, r, p, gamma = state
            z = operator.matvec(p)
            alpha = gamma / _dot(p, z)
            x, r = x + alpha[..., None] * p, r - alpha[..., None] * z
            q = prepared(r)
            after = _dot(r, q)
            return CGState(i + 1, x, r, q + (after / gamma)[..., None] * p, after)

        if _weft.in_graph():
            from weft._src.function.control_flow import while_loop

            return CGState(*while_loop(goes_on, lambda *s: list(step(*s)), list(state)))
        while goes_on(*state):
            state = step(*state)
        return state
