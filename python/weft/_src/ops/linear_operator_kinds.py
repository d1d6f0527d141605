"""tf.linalg.LinearOperator*: dense, diagonal and triangular matrices."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.function.control_flow import no_op
from weft._src.ops import array_ops, check_ops, linalg_ops, math_ops
from weft._src.ops.linear_operator import LinearOperator, _kept, _own_arguments, _same_batch


def no_zeros(diag, message="Singular operator:  Diagonal contained zero values."):
    """An op that fails where a diagonal has a zero."""
    size = math_ops.abs(diag)
    zero = convert_to_tensor(0, size.dtype)
    return check_ops.assert_less(zero, size, message=message)


def no_imaginary_part(value, message):
    """An op that fails where a number is not real."""
    if not value.dtype.is_complex:
        return no_op()
    part = math_ops.imag(value)
    return check_ops.assert_equal(array_ops.zeros_like(part), part, message=message)


def real_is_self_adjoint(operator):
    if not operator.dtype.is_complex:
        if operator._hints["is_self_adjoint"] is False:
            raise ValueError("A real diagonal operator is always self adjoint.")
        operator._hints["is_self_adjoint"] = True


class LinearOperatorFullMatrix(LinearOperator):
    """A matrix by all its elements."""

    @_own_arguments
    def __init__(
        self,
        matrix,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorFullMatrix",
    ):
        self._matrix = _kept(matrix, name="matrix")
        self._dtype = self._matrix.dtype
        allowed = [dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128]
        if self._dtype not in allowed:
            raise TypeError(f"Argument `matrix` must have dtype in {allowed}. Received: {self._dtype}.")
        if self._matrix.shape.rank is not None and self._matrix.shape.rank < 2:
            raise ValueError(f"Argument `matrix` must have at least 2 dimensions. Received: {self._matrix}.")

    _matrix_ranks = {"matrix": 2}
    matrix = property(lambda self: self._matrix)

    def _to_dense(self):
        return convert_to_tensor(self._matrix)

    def _shape(self):
        return self._matrix.shape


class LinearOperatorDiag(LinearOperator):
    """A matrix by its diagonal."""

    @_own_arguments
    def __init__(
        self,
        diag,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorDiag",
    ):
        self._diag = _kept(diag, name="diag")
        self._dtype = self._diag.dtype
        if self._diag.shape.rank is not None and self._diag.shape.rank < 1:
            raise ValueError(f"Argument diag must have at least 1 dimension.  Found: {self._diag!s}")
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        real_is_self_adjoint(self)
        self._hints["is_square"] = True

    _matrix_ranks = {"diag": 1}
    diag = property(lambda self: self._diag)

    def _assert_non_singular(self):
        return no_zeros(convert_to_tensor(self._diag))

    def _assert_positive_definite(self):
        return check_ops.assert_positive(
            math_ops.real(self._diag),
            message="Diagonal operator had diagonal entries with non-positive real part, thus was not positive definite."
            if self.dtype.is_complex
            else "Real diagonal operator had non-positive diagonal entries, thus was not positive definite.",
        )

    def _assert_self_adjoint(self):
        return no_imaginary_part(
            convert_to_tensor(self._diag),
            "This diagonal operator contained non-zero imaginary values.   Thus it was not self-adjoint.",
        )

    def _shape(self):
        return self._diag.shape.concatenate(self._diag.shape[-1:])

    def _to_dense(self):
        return linalg_ops.diag(self._diag)

    def _scaled(self, x, factor, adjoint, adjoint_arg):
        factor = math_ops.conj(factor) if adjoint else factor
        return array_ops.expand_dims(factor, -1) * (linalg_ops.adjoint(x) if adjoint_arg else x)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._scaled(x, convert_to_tensor(self._diag), adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._scaled(rhs, math_ops.reciprocal(self._diag), adjoint, adjoint_arg)

    def _diag_part(self):
        return convert_to_tensor(self._diag)

    def _determinant(self):
        return math_ops.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self):
        total = math_ops.reduce_sum(math_ops.log(math_ops.abs(self._diag)), axis=[-1])
        return math_ops.cast(total, self.dtype)

    def _inverse(self):
        return LinearOperatorDiag(math_ops.reciprocal(self._diag), **self._known_hints(is_square=True))

    def _adjoint(self):
        return LinearOperatorDiag(math_ops.conj(convert_to_tensor(self._diag)), **self._known_hints(is_square=True))

    def _cholesky(self):
        return LinearOperatorDiag(
            math_ops.sqrt(self._diag),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=True,
            is_square=True,
        )

    def _eigvals(self):
        return convert_to_tensor(self._diag)

    def _cond(self):
        sizes = math_ops.abs(self._diag)
        return math_ops.reduce_max(sizes, -1) / math_ops.reduce_min(sizes, -1)


class LinearOperatorLowerTriangular(LinearOperator):
    """A matrix by its lower triangle; what is above does not count."""

    @_own_arguments
    def __init__(
        self,
        tril,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowerTriangular",
    ):
        self._tril = _kept(tril, name="tril")
        self._dtype = self._tril.dtype
        if self._tril.shape.rank is not None and self._tril.shape.rank < 2:
            raise ValueError(f"Argument tril must have at least 2 dimensions.  Found: {self._tril!s}")
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        self._hints["is_square"] = True

    _matrix_ranks = {"tril": 2}
    tril = property(lambda self: self._tril)

    def _shape(self):
        return self._tril.shape

    def _to_dense(self):
        return raw.MatrixBandPart(input=self._tril, num_lower=-1, num_upper=0)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        matrix, rhs = _same_batch(self._to_dense(), linalg_ops.adjoint(rhs) if adjoint_arg else rhs)
        return raw.MatrixTriangularSolve(matrix=matrix, rhs=rhs, lower=True, adjoint=adjoint)

    def _get_diag(self):
        return self._diag_part()

    def _assert_non_singular(self):
        return no_zeros(self._get_diag())

    def _determinant(self):
        return math_ops.reduce_prod(self._diag_part(), axis=[-1])

    def _log_abs_determinant(self):
        return math_ops.cast(math_ops.reduce_sum(math_ops.log(math_ops.abs(self._get_diag())), axis=[-1]), self.dtype)

    def _eigvals(self):
        return self._diag_part()
