"""tf.linalg.LinearOperator*: operators made of others, and matrices of a special form."""

import functools
import math

import numpy as np

from weft._src.raw import raw
from weft._src.framework import dtypes, errors
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.function.control_flow import no_op
from weft._src.ops import array_ops, check_ops, linalg_ops, math_ops
from weft._src.ops.linear_operator import LinearOperator, _compatible, _kept, _own_arguments, _same_batch
from weft._src.ops.linear_operator_blocks import common_batch
from weft._src.ops.linear_operator_composed import hints_of_all, keep_operators
from weft._src.ops.linear_operator_identities import LinearOperatorIdentity
from weft._src.ops.linear_operator_kinds import LinearOperatorDiag, no_imaginary_part, no_zeros


class LinearOperatorKronecker(LinearOperator):
    """Kronecker's product of operators."""

    @_own_arguments
    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        keep_operators(self, operators)
        hints_of_all(self, "Kronecker product")

    _matrix_ranks = {"operators": 2}
    operators = property(lambda self: self._operators)

    def _default_name(self):
        return "_x_".join(op.name for op in self._operators)

    def _shape(self):
        sizes = [[op._size(axis) for op in self._operators] for axis in (-2, -1)]
        return common_batch(self._operators).concatenate([None if None in s else math.prod(s) for s in sizes])

    def _each(self, method, **hints):
        return LinearOperatorKronecker([getattr(op, method)() for op in self._operators], is_square=True, **hints)

    def _adjoint(self):
        return self._each("adjoint", **self._hints_but_square())

    def _inverse(self):
        return self._each("inverse", **self._hints_but_square())

    def _cholesky(self):
        return self._each("cholesky", is_non_singular=True)

    def _hints_but_square(self):
        hints = self._known_hints()
        del hints["is_square"]
        return hints

    def _to_dense(self):
        out = self._operators[0].to_dense()
        for op in self._operators[1:]:
            other = op.to_dense()
            product = out[..., :, None, :, None] * other[..., None, :, None, :]
            sizes = array_ops.shape(product)
            joined = [sizes[-4] * sizes[-3], sizes[-2] * sizes[-1]]
            out = array_ops.reshape(product, array_ops.concat([sizes[:-4], joined], 0))
        out.set_shape(self.shape)
        return out


class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H."""

    @_own_arguments
    def __init__(
        self,
        base_operator,
        u,
        diag_update=None,
        v=None,
        is_diag_update_positive=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowRankUpdate",
    ):
        self._base, self._dtype = base_operator, base_operator.dtype
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError(
                    "Default diagonal is the identity, which is positive.  However, user set 'is_diag_update_positive' to False."
                )
            is_diag_update_positive = True
        self._u = _kept(u, self._dtype, name="u")
        self._v = self._u if v is None else _kept(v, self._dtype, name="v")
        self._update = None if diag_update is None else _kept(diag_update, self._dtype, name="diag_update")
        self._positive = is_diag_update_positive
        definite = base_operator.is_positive_definite and base_operator.is_self_adjoint and self._positive and v is None
        if base_operator.is_self_adjoint and v is None and not self._dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is self-adjoint, this must be a self-adjoint operator."
                )
            self._hints["is_self_adjoint"] = True
        self._use_cholesky = bool(definite)
        if definite:
            if False in (is_positive_definite, is_self_adjoint, is_non_singular):
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            self._hints.update(is_positive_definite=True, is_self_adjoint=True)
        shape = array_ops.broadcast_static_shape(self._u.shape, self._v.shape)
        lead = array_ops.broadcast_static_shape(base_operator.batch_shape, shape[:-2])
        if shape.rank is not None:
            _compatible(base_operator._size(-1), shape.as_list()[-2])
            if self._update is not None and self._update.shape.rank is not None:
                _compatible(shape.as_list()[-1], self._update.shape.as_list()[-1])
                array_ops.broadcast_static_shape(lead, self._update.shape[:-1])

    _matrix_ranks = {"base_operator": 2, "u": 2, "diag_update": 1, "v": 2}
    base_operator = property(lambda self: self._base)
    u = property(lambda self: self._u)
    v = property(lambda self: self._v)
    diag_update = property(lambda self: self._update)
    is_diag_update_positive = property(lambda self: self._positive)

    @property
    def diag_operator(self):
        """D, as an operator."""
        if self._update is not None:
            return LinearOperatorDiag(self._update, is_positive_definite=self._positive)
        known = self._u.shape[-1]
        return LinearOperatorIdentity(array_ops.shape(self._u)[-1] if known is None else known, dtype=self._dtype)

    def _shape(self):
        parts = [self._base.batch_shape, self._u.shape[:-2], self._v.shape[:-2], self.diag_operator.batch_shape]
        return functools.reduce(array_ops.broadcast_static_shape, parts).concatenate(self._base.shape[-2:])

    def _to_dense(self):
        u, v = convert_to_tensor(self._u), convert_to_tensor(self._v)
        left = u if self._update is None else u * convert_to_tensor(self._update)[..., None, :]
        return self._base.to_dense() + math_ops.matmul(left, v, adjoint_b=True)


class LinearOperatorHouseholder(LinearOperator):
    """A reflection: I - 2 v v^H of a vector of length 1."""

    @_own_arguments
    def __init__(
        self,
        reflection_axis,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorHouseholder",
    ):
        self._axis = _kept(reflection_axis, name="reflection_axis")
        self._dtype = self._axis.dtype
        if self._axis.shape.rank == 0:
            raise ValueError(f"Argument reflection_axis must have at least 1 dimension.  Found: {self._axis!s}")
        for wrong, words in (
            (is_self_adjoint is False, "self adjoint"),
            (is_positive_definite is True, "non-positive definite"),
            (is_square is False, "square"),
        ):
            if wrong:
                raise ValueError(f"A Householder operator is always {words}.")
        self._hints.update(is_self_adjoint=True, is_positive_definite=False, is_square=True)

    _matrix_ranks = {"reflection_axis": 1}
    reflection_axis = property(lambda self: self._axis)

    def _inverse(self):
        return self

    def _determinant(self):
        return -array_ops.ones(self.batch_shape_tensor(), self.dtype)

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)

    def _cond(self):
        return array_ops.ones(self.batch_shape_tensor(), self.dtype)

    def _trace(self):
        return math_ops.cast(self.domain_dimension_tensor() - 2, self.dtype) * self._cond()

    def _eigvals(self):
        sizes = array_ops.shape(self._axis)
        rest = array_ops.ones(array_ops.concat([sizes[:-1], [sizes[-1] - 1]], 0), self.dtype)
        return array_ops.concat([-array_ops.ones(array_ops.concat([sizes[:-1], [1]], 0), self.dtype), rest], -1)

    def _nothing_to_assert(self):
        return no_op()

    _assert_non_singular = _assert_self_adjoint = _nothing_to_assert

    def _assert_positive_definite(self):
        raise errors.InvalidArgumentError(None, None, "Householder operators are always non-positive definite.")

    def _shape(self):
        return self._axis.shape.concatenate(self._axis.shape[-1:])

    def _to_dense(self):
        unit = self._axis / linalg_ops.norm(self._axis, axis=-1, keepdims=True)
        return array_ops.eye(array_ops.shape(unit)[-1], dtype=self.dtype) - 2 * math_ops.matmul(
            unit[..., :, None], unit[..., :, None], adjoint_b=True
        )

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint, adjoint_arg)  # its own inverse


class LinearOperatorPermutation(LinearOperator):
    """A permutation of rows."""

    @_own_arguments
    def __init__(
        self,
        perm,
        dtype=dtypes.float32,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorPermutation",
    ):
        self._perm, self._dtype = _kept(perm, name="perm"), dtypes.as_dtype(dtype)
        if self._perm.shape.rank == 0:
            raise ValueError(f"Argument `perm` must have at least 1 dimension. Received: {self._perm}.")
        if not self._perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must be integer dtype. Received: {self._perm}.")
        known = None if hasattr(perm, "assign") else constant_value(self._perm)
        if known is not None and np.any(np.sort(known, axis=-1) != np.arange(known.shape[-1])):
            raise ValueError(f"Argument `perm` must be a vector of unique integers from 0 to {known.shape[-1] - 1}.")
        for hint, given in (("is_non_singular", is_non_singular), ("is_square", is_square)):
            if given is False:
                words = hint.removeprefix("is_").replace("_", "-")
                raise ValueError(
                    f"A Permutation operator is always {words}. Expected argument `{hint}` to be True. Received: {given}."
                )
        self._hints["is_square"] = True

    _matrix_ranks = {"perm": 1}
    perm = property(lambda self: self._perm)

    def _assert_non_singular(self):
        return no_op()

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)

    def _cond(self):
        return array_ops.ones(self.batch_shape_tensor(), self.dtype)

    def _shape(self):
        return self._perm.shape.concatenate(self._perm.shape[-1:])

    def _to_dense(self):
        return array_ops.one_hot(self._perm, array_ops.shape(self._perm)[-1], dtype=self.dtype)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, not adjoint, adjoint_arg)


class LinearOperatorTridiag(LinearOperator):
    """A matrix with three diagonals."""

    @_own_arguments
    def __init__(
        self,
        diagonals,
        diagonals_format="compact",
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorTridiag",
    ):
        if diagonals_format not in ("compact", "matrix", "sequence"):
            raise ValueError(
                f"Argument `diagonals_format` must be one of compact, matrix, or sequence. Received : {diagonals_format}."
            )
        self._format = diagonals_format
        if diagonals_format == "sequence":
            self._diagonals = [_kept(d, name=f"diag_{i}") for i, d in enumerate(diagonals)]
            self._dtype = self._diagonals[0].dtype
        else:
            self._diagonals = _kept(diagonals, name="diagonals")
            self._dtype = self._diagonals.dtype

    @property
    def _matrix_ranks(self):
        return {"diagonals": 1 if self._format == "sequence" else 2}

    @property
    def _three(self):
        """The diagonals in the compact form, at present."""
        if self._format != "sequence" or all(d.shape.rank == 1 for d in self._diagonals):
            if self._format == "sequence":
                return linalg_ops._diagonals(list(self._diagonals), self._format)
            return linalg_ops._diagonals(convert_to_tensor(self._diagonals), self._format)
        lines = [convert_to_tensor(d) for d in self._diagonals]
        lead = functools.reduce(array_ops.broadcast_dynamic_shape, (array_ops.shape(d)[:-1] for d in lines))
        lines = [array_ops.broadcast_to(d, array_ops.concat([lead, array_ops.shape(d)[-1:]], 0)) for d in lines]
        return linalg_ops._diagonals(lines, self._format)

    diagonals = property(lambda self: self._diagonals)
    diagonals_format = property(lambda self: self._format)

    def _shape(self):
        n = self._three.shape[-1]
        return self._three.shape[:-2].concatenate([n, n])

    def _to_dense(self):
        n = self._three.shape[-1]
        return linalg_ops.diag(self._three, k=(-1, 1), num_rows=n, num_cols=n, align="LEFT_RIGHT")

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        if adjoint:
            return super()._solve(rhs, adjoint, adjoint_arg)
        rhs = linalg_ops.adjoint(rhs) if adjoint_arg else rhs
        three, rhs = _same_batch(self._three, rhs)
        return linalg_ops.tridiagonal_solve(three, rhs)


class LinearOperatorToeplitz(LinearOperator):
    """Equal numbers along each diagonal: by the first column and the first row."""

    @_own_arguments
    def __init__(
        self,
        col,
        row,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorToeplitz",
    ):
        self._row, self._col = _kept(row, name="row"), _kept(col, name="col")
        self._dtype = self._row.dtype
        for name, line in (("row", self._row), ("col", self._col)):
            if line.shape.rank == 0:
                raise ValueError(f"Argument {name} must have at least 1 dimension.  Found: {line}")
        if None not in (self._row.shape.rank, self._col.shape.rank):
            rows, columns = self._col.shape.as_list()[-1], self._row.shape.as_list()[-1]
            if None not in (rows, columns) and rows != columns:
                raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        self._hints["is_square"] = True

    _matrix_ranks = {"col": 1, "row": 1}

    col = property(lambda self: self._col)
    row = property(lambda self: self._row)

    def _shape(self):
        n = self._col.shape[-1]
        return array_ops.broadcast_static_shape(self._col.shape, self._row.shape)[:-1].concatenate([n, n])

    def _to_dense(self):
        lead = array_ops.broadcast_dynamic_shape(array_ops.shape(self._col), array_ops.shape(self._row))
        col, row = (array_ops.broadcast_to(convert_to_tensor(t), lead) for t in (self._col, self._row))
        # The last row backwards, then the first row: every row is a window of it.
        line = array_ops.concat([array_ops.reverse(col, [-1]), row[..., 1:]], -1)
        n = math_ops.range(lead[-1])
        return array_ops.gather(line, n[None, :] - n[:, None] + lead[-1] - 1, axis=-1)

    def _trace(self):
        return math_ops.cast(self.domain_dimension_tensor(), self.dtype) * convert_to_tensor(self._col)[..., 0]


class _Circulant(LinearOperator):
    """A circulant matrix by its spectrum, in blocks of one to three levels."""

    _depth = 1

    def _keep(self, spectrum, input_output_dtype):
        self._spectrum = _kept(spectrum, name="spectrum")
        self._dtype = dtypes.as_dtype(input_output_dtype)
        if self._spectrum.shape.rank is not None and self._spectrum.shape.rank < self._depth:
            raise ValueError(
                f"Argument `spectrum` must have at least {self._depth} dimensions. Received: {self._spectrum}."
            )
        given = self._hints["is_self_adjoint"]
        if not self._spectrum.dtype.is_complex:
            if given is False:
                raise ValueError(
                    "A real spectrum always corresponds to a self-adjoint operator. Expected argument `is_self_adjoint` to be "
                    f"True when `spectrum.dtype.is_complex` = True. Received: {given}."
                )
            self._hints["is_self_adjoint"] = True
        if self._hints["is_square"] is False:
            raise ValueError(
                "A [[nested] block] circulant operator is always square. Expected argument `is_square` to be True. Received: False."
            )
        self._hints["is_square"] = True

    @property
    def _matrix_ranks(self):
        return {"spectrum": self._depth}

    @property
    def block_shape(self):
        return self._spectrum.shape[-self._depth :]

    def block_shape_tensor(self):
        return array_ops.shape(self._spectrum)[-self._depth :]

    def _flat(self):
        """The spectrum of each matrix in a line."""
        return array_ops.reshape(self._spectrum, self._shape_tensor()[:-1])

    def _inverse(self):
        return type(self)(1.0 / self._spectrum, input_output_dtype=self.dtype, **self._known_hints(is_square=True))

    def _adjoint(self):
        return type(self)(
            math_ops.conj(self._spectrum), **self._known_hints()
        )  # of the default dtype, as in TensorFlow

    def _eigvals(self):
        return self._flat()

    def _cond(self):
        sizes = math_ops.abs(self._flat())
        return math_ops.reduce_max(sizes, -1) / math_ops.reduce_min(sizes, -1)

    def _trace(self):
        total = math_ops.reduce_sum(self._flat(), -1)
        return math_ops.cast(math_ops.real(total) if not self.dtype.is_complex else total, self.dtype)

    def _diag_part(self):
        mean = self._trace() / math_ops.cast(self.domain_dimension_tensor(), self.dtype)
        return mean[..., None] * array_ops.ones(self.shape_tensor()[:-1], self.dtype)

    def assert_hermitian_spectrum(self, name="assert_hermitian_spectrum"):
        """An op that fails where the kernel is not real."""
        part = math_ops.imag(self.convolution_kernel())
        most = linalg_ops._eps(self.dtype) * math_ops.cast(self.domain_dimension_tensor(), part.dtype)
        return check_ops.assert_less(math_ops.abs(part), most, message="Spectrum was not Hermitian")

    def _assert_non_singular(self):
        return no_zeros(convert_to_tensor(self._spectrum), "Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self):
        text = "Not positive definite:  Real part of spectrum was not all positive."
        return check_ops.assert_positive(math_ops.real(self._spectrum), message=text)

    def _assert_self_adjoint(self):
        text = "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        return no_imaginary_part(convert_to_tensor(self._spectrum), text)

    spectrum = property(lambda self: self._spectrum)
    block_depth = property(lambda self: self._depth)

    def _shape(self):
        known = self._spectrum.shape
        n = None if known.rank is None else TensorShape(known[-self._depth :]).num_elements()
        return known[: -self._depth].concatenate([n, n])

    def _shape_tensor(self):
        sizes = array_ops.shape(self._spectrum)
        n = math_ops.reduce_prod(sizes[-self._depth :])
        return array_ops.concat([sizes[: -self._depth], [n, n]], 0)

    def _through(self, x, spectrum, adjoint, adjoint_arg):
        x = linalg_ops.adjoint(x) if adjoint_arg else x
        kind = dtypes.complex128 if self._dtype in (dtypes.float64, dtypes.complex128) else dtypes.complex64
        spectrum = math_ops.cast(spectrum, kind)
        spectrum = math_ops.conj(spectrum) if adjoint else spectrum
        blocks = self.block_shape_tensor()
        rows = array_ops.matrix_transpose(math_ops.cast(x, kind))
        shaped = array_ops.reshape(rows, array_ops.concat([array_ops.shape(rows)[:-1], blocks], 0))
        forward, back = {1: (raw.FFT, raw.IFFT), 2: (raw.FFT2D, raw.IFFT2D), 3: (raw.FFT3D, raw.IFFT3D)}[self._depth]
        made = back(input=forward(input=shaped) * array_ops.expand_dims(spectrum, -self._depth - 1))
        flat = array_ops.reshape(
            made, array_ops.concat([array_ops.shape(made)[: -self._depth], [math_ops.reduce_prod(blocks)]], 0)
        )
        return math_ops.cast(array_ops.matrix_transpose(flat), self._dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._through(x, self._spectrum, adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._through(rhs, math_ops.reciprocal(self._spectrum), adjoint, adjoint_arg)

    def _determinant(self):
        return math_ops.cast(math_ops.reduce_prod(self._spectrum, axis=list(range(-self._depth, 0))), self._dtype)

    def _log_abs_determinant(self):
        return math_ops.cast(
            math_ops.reduce_sum(math_ops.log(math_ops.abs(self._spectrum)), axis=list(range(-self._depth, 0))),
            self._dtype,
        )

    def convolution_kernel(self, name="convolution_kernel"):
        """The kernel whose transform is the spectrum."""
        back = {1: raw.IFFT, 2: raw.IFFT2D, 3: raw.IFFT3D}[self._depth]
        kind = dtypes.complex128 if self._dtype.real_dtype == dtypes.float64 else dtypes.complex64
        return math_ops.cast(back(input=math_ops.cast(self._spectrum, kind)), self._dtype)


class LinearOperatorCirculant(_Circulant):
    """A circulant matrix."""

    @_own_arguments
    def __init__(
        self,
        spectrum,
        input_output_dtype=dtypes.complex64,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name="LinearOperatorCirculant",
    ):
        self._keep(spectrum, input_output_dtype)


class LinearOperatorCirculant2D(_Circulant):
    """A circulant matrix of circulant blocks."""

    _depth = 2

    @_own_arguments
    def __init__(
        self,
        spectrum,
        input_output_dtype=dtypes.complex64,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name="LinearOperatorCirculant2D",
    ):
        self._keep(spectrum, input_output_dtype)


class LinearOperatorCirculant3D(_Circulant):
    """A circulant matrix of circulant blocks of circulant blocks."""

    _depth = 3

    @_own_arguments
    def __init__(
        self,
        spectrum,
        input_output_dtype=dtypes.complex64,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name="LinearOperatorCirculant3D",
    ):
        self._keep(spectrum, input_output_dtype)
