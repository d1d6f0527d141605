"""tf.linalg.LinearOperator*: operators made of others, and matrices of a special form."""

import functools
import math

import numpy as np

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.ops import array_ops, linalg_ops, math_ops
from weft._src.ops.linear_operator import LinearOperator, _hints_of_all, _own_arguments, _same_batch


def _common_batch(operators):
    """The batch shape of all of them together."""
    return functools.reduce(array_ops.broadcast_static_shape, (op.batch_shape for op in operators))


class LinearOperatorBlockDiag(LinearOperator):
    """Operators along the diagonal."""

    @_own_arguments
    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name=None,
    ):
        self._operators = list(operators)
        self._dtype = self._operators[0].dtype
        _hints_of_all(self, "direct sum")

    operators = property(lambda self: self._operators)

    def _shape(self):
        lead = _common_batch(self._operators)
        rows, cols = [op.range_dimension for op in self._operators], [op.domain_dimension for op in self._operators]
        return lead.concatenate([None if None in rows else sum(rows), None if None in cols else sum(cols)])

    def _to_dense(self):
        rows, before, total = [], 0, self.shape[-1]
        for op in self._operators:
            dense = op.to_dense()
            dense = array_ops.broadcast_to(dense, self.batch_shape.concatenate(dense.shape[-2:]))
            rows.append(
                array_ops.pad(
                    dense, [[0, 0]] * (len(self.shape) - 1) + [[before, total - before - op.domain_dimension]]
                )
            )
            before += op.domain_dimension
        return array_ops.concat(rows, -2)


class LinearOperatorBlockLowerTriangular(LinearOperator):
    """Rows of operators; each row has one more than the row above."""

    @_own_arguments
    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorBlockLowerTriangular",
    ):
        self._operators = [list(row) for row in operators]
        self._dtype = self._operators[0][0].dtype
        known = [row[-1].is_non_singular for row in self._operators]
        if is_non_singular is None:
            self._hints["is_non_singular"] = True if all(known) else False if False in known else None

    operators = property(lambda self: self._operators)

    def _shape(self):
        lead = _common_batch(op for row in self._operators for op in row)
        rows = [row[0].range_dimension for row in self._operators]
        cols = [row[-1].domain_dimension for row in self._operators]
        return lead.concatenate([None if None in rows else sum(rows), None if None in cols else sum(cols)])

    def _to_dense(self):
        total = sum(row[-1].domain_dimension for row in self._operators)
        blocks = [[op.to_dense() for op in row] for row in self._operators]
        batch = self.batch_shape
        if not batch.is_fully_defined():
            shapes = [array_ops.shape(block)[:-2] for row in blocks for block in row]
            batch = functools.reduce(array_ops.broadcast_dynamic_shape, shapes)
        rows = []
        for row in blocks:
            row = [
                array_ops.broadcast_to(block, array_ops.concat([batch, array_ops.shape(block)[-2:]], 0))
                for block in row
            ]
            dense = array_ops.concat(row, -1)
            rows.append(array_ops.pad(dense, [[0, 0]] * (dense.shape.rank - 1) + [[0, total - dense.shape[-1]]]))
        return array_ops.concat(rows, -2)


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
        self._operators = list(operators)
        self._dtype = self._operators[0].dtype
        _hints_of_all(self, "Kronecker product")

    operators = property(lambda self: self._operators)

    def _shape(self):
        sizes = [[getattr(op, name) for op in self._operators] for name in ("range_dimension", "domain_dimension")]
        return _common_batch(self._operators).concatenate([None if None in s else math.prod(s) for s in sizes])

    def _to_dense(self):
        out = self._operators[0].to_dense()
        for op in self._operators[1:]:
            other = op.to_dense()
            product = out[..., :, None, :, None] * other[..., None, :, None, :]
            rows, cols = out.shape[-2] * other.shape[-2], out.shape[-1] * other.shape[-1]
            out = array_ops.reshape(product, product.shape[:-4].concatenate([rows, cols]))
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
        self._u = convert_to_tensor(u, self._dtype, name="u")
        self._v = self._u if v is None else convert_to_tensor(v, self._dtype, name="v")
        self._update = None if diag_update is None else convert_to_tensor(diag_update, self._dtype, name="diag_update")
        self._positive = True if diag_update is None else is_diag_update_positive
        if v is None and base_operator.is_self_adjoint and not (diag_update is not None and self._dtype.is_complex):
            self._hints["is_self_adjoint"] = True
            if base_operator.is_positive_definite and self._positive:
                self._hints.update(is_positive_definite=True, is_non_singular=True)

    base_operator = property(lambda self: self._base)
    u = property(lambda self: self._u)
    v = property(lambda self: self._v)
    diag_update = property(lambda self: self._update)
    is_diag_update_positive = property(lambda self: self._positive)

    @property
    def diag_operator(self):
        """D, as an operator."""
        from weft._src.ops.linear_operator import LinearOperatorDiag, LinearOperatorIdentity

        if self._update is not None:
            return LinearOperatorDiag(self._update, is_positive_definite=self._positive)
        known = self._u.shape[-1]
        rank = array_ops.shape(self._u)[-1] if known is None else known
        if self._u.shape.rank == 2:
            return LinearOperatorIdentity(rank, dtype=self._dtype)
        return LinearOperatorIdentity(rank, batch_shape=array_ops.shape(self._u)[:-2], dtype=self._dtype)

    def _shape(self):
        return array_ops.broadcast_static_shape(self._base.batch_shape, self._u.shape[:-2]).concatenate(
            self._base.shape[-2:]
        )

    def _to_dense(self):
        left = self._u if self._update is None else self._u * self._update[..., None, :]
        return self._base.to_dense() + math_ops.matmul(left, self._v, adjoint_b=True)


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
        self._axis = convert_to_tensor(reflection_axis, name="reflection_axis")
        self._dtype = self._axis.dtype
        self._hints.update(is_self_adjoint=True, is_positive_definite=False, is_square=True)

    reflection_axis = property(lambda self: self._axis)

    def _shape(self):
        return self._axis.shape.concatenate(self._axis.shape[-1:])

    def _to_dense(self):
        unit = self._axis / linalg_ops.norm(self._axis, axis=-1, keepdims=True)
        return array_ops.eye(self._axis.shape[-1], dtype=self.dtype) - 2 * math_ops.matmul(
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
        self._perm, self._dtype = convert_to_tensor(perm, name="perm"), dtypes.as_dtype(dtype)
        self._hints["is_square"] = True

    perm = property(lambda self: self._perm)

    def _shape(self):
        return self._perm.shape.concatenate(self._perm.shape[-1:])

    def _to_dense(self):
        return array_ops.one_hot(self._perm, self._perm.shape[-1], dtype=self.dtype)

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
        self._diagonals, self._format = diagonals, diagonals_format
        self._three = linalg_ops._diagonals(diagonals, diagonals_format)
        self._dtype = self._three.dtype
        self._hints["is_square"] = True

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
        self._col = convert_to_tensor(col, name="col")
        self._row = convert_to_tensor(row, self._col.dtype, name="row")
        self._dtype = self._col.dtype
        self._hints["is_square"] = True

    col = property(lambda self: self._col)
    row = property(lambda self: self._row)

    def _shape(self):
        n = self._col.shape[-1]
        return array_ops.broadcast_static_shape(self._col.shape, self._row.shape)[:-1].concatenate([n, n])

    def _to_dense(self):
        n = self._col.shape[-1]
        # The last row backwards, then the first row: every row is a window of it.
        line = array_ops.concat([array_ops.reverse(self._col, [-1]), self._row[..., 1:]], -1)
        places = np.arange(n)[None, :] - np.arange(n)[:, None] + n - 1
        return array_ops.gather(line, places, axis=-1)


class _Circulant(LinearOperator):
    """A circulant matrix by its spectrum, in blocks of one to three levels."""

    _depth = 1

    def _keep(self, spectrum, input_output_dtype):
        self._spectrum = convert_to_tensor(spectrum, name="spectrum")
        self._dtype = dtypes.as_dtype(input_output_dtype)
        self._hints["is_square"] = True
        if not self._spectrum.dtype.is_complex:
            self._hints["is_self_adjoint"] = True

    spectrum = property(lambda self: self._spectrum)
    block_depth = property(lambda self: self._depth)

    def _shape(self):
        known = self._spectrum.shape
        n = TensorShape(known[-self._depth :]).num_elements()
        return known[: -self._depth].concatenate([n, n])

    def _to_dense(self):
        return self._matmul(array_ops.eye(self.shape[-1], dtype=self.dtype))

    def _through(self, x, spectrum, adjoint, adjoint_arg):
        x = linalg_ops.adjoint(x) if adjoint_arg else x
        kind = dtypes.complex128 if self._dtype in (dtypes.float64, dtypes.complex128) else dtypes.complex64
        spectrum = math_ops.cast(spectrum, kind)
        spectrum = math_ops.conj(spectrum) if adjoint else spectrum
        blocks = self._spectrum.shape.as_list()[-self._depth :]
        rows = array_ops.matrix_transpose(math_ops.cast(x, kind))
        shaped = array_ops.reshape(rows, array_ops.concat([array_ops.shape(rows)[:-1], blocks], 0))
        forward, back = {1: (raw.FFT, raw.IFFT), 2: (raw.FFT2D, raw.IFFT2D), 3: (raw.FFT3D, raw.IFFT3D)}[self._depth]
        made = back(input=forward(input=shaped) * array_ops.expand_dims(spectrum, -self._depth - 1))
        flat = array_ops.reshape(made, array_ops.concat([array_ops.shape(made)[: -self._depth], [-1]], 0))
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
        return math_ops.cast(back(input=math_ops.cast(self._spectrum, dtypes.complex64)), self._dtype)


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
