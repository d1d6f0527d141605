"""Functions of tf.linalg that take linear operators: they are the operators' own methods."""

from weft._src.raw import raw
from weft._src.framework.dispatch import register_api, register_op
from weft._src.ops import linalg_ops, product_ops, reduction_ops
from weft._src.ops.linear_operator import LinearOperator


def _taken(function, method):
    """Calls of a function with an operator go to method(operator or operators, other arguments)."""

    def handler(args, kwargs):
        values = [*args, *kwargs.values()]
        if not any(isinstance(v, LinearOperator) for v in values):
            return NotImplemented
        return method(*args, **kwargs)

    register_api(function, handler)


def _diag_part(input, name="diag_part", **_):
    return input.diag_part(name)


def _logdet(matrix, name=None):
    if matrix.is_positive_definite and matrix.is_self_adjoint:
        return matrix.log_abs_determinant(name)
    raise ValueError("Expected matrix to be self-adjoint positive definite.")


def _matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    **_,
):
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b)
    # A B is the adjoint of B^H A^H.
    return linalg_ops.adjoint(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a))


_taken(linalg_ops.adjoint, lambda matrix, name=None: matrix.adjoint(name))
_taken(linalg_ops.diag_part, _diag_part)
_taken(linalg_ops.logdet, _logdet)
_taken(product_ops.matmul, _matmul)
_taken(reduction_ops.trace, lambda x, name=None: x.trace(name))


@register_op([raw.Cholesky.op_name], LinearOperator)
def _cholesky(op, arguments):
    return arguments["input"].cholesky()


@register_op([raw.MatrixDeterminant.op_name], LinearOperator)
def _determinant(op, arguments):
    return arguments["input"].determinant()


@register_op([raw.MatrixInverse.op_name], LinearOperator)
def _inverse(op, arguments):
    made = arguments["input"].inverse()
    return made.adjoint() if arguments.get("adjoint") else made


@register_op([raw.MatrixSolve.op_name], LinearOperator)
def _solve(op, arguments):
    matrix, rhs = arguments["matrix"], arguments["rhs"]
    if not isinstance(matrix, LinearOperator):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint=bool(arguments.get("adjoint")))
