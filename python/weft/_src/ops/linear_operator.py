"""tf.linalg.LinearOperator*: matrices by what they do; each kind says what it is, and does better than a dense matrix where it can."""

import inspect

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.ops import array_ops, linalg_ops, math_ops
from weft._src.ops._direct import scope
from weft._src.trackable.module import Module


def _own_arguments(function):
    """The hints come by name: __init__ with TensorFlow's signature, whose own arguments go to _set_up."""
    hints = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square", "name")
    signature = inspect.signature(function)

    def __init__(self, *args, **kwargs):
        try:
            given = signature.bind(self, *args, **kwargs)
        except TypeError:
            return function(self, *args, **kwargs)  # whose own text names the class
        given.apply_defaults()
        values = dict(list(given.arguments.items())[1:])
        self._parameters = dict(values)
        self._hints = {h: values.get(h) for h in hints}
        Module.__init__(self, name=(values.get("name") or type(self).__name__).replace("/", "_"))
        function(self, **values)

    __init__.__signature__ = signature
    return __init__


def _hints_of_all(self, what, hints=("is_non_singular", "is_self_adjoint", "is_positive_definite")):
    """What all parts of an operator are, it is, too."""
    for hint in hints:
        if all(getattr(op, hint) for op in self._operators):
            if self._hints[hint] is False:
                words = hint.removeprefix("is_").replace("_", "-")
                more = (
                    f" Expected argument `{hint}` to be True. Received: False." if what.startswith("Kronecker") else ""
                )
                raise ValueError(f"The {what} of {words} operators is always {words}.{more}")
            self._hints[hint] = True


def _adjoint_pair(a, b):
    if a is b:
        return bool(a.is_self_adjoint)
    return (isinstance(a, LinearOperatorAdjoint) and a.operator is b) or (
        isinstance(b, LinearOperatorAdjoint) and b.operator is a
    )


def _same_batch(matrix, rhs):
    """Both for each matrix of the stack."""
    a, b = matrix.shape[:-2], rhs.shape[:-2]
    if a.is_fully_defined() and a == b:
        return matrix, rhs
    lead = array_ops.broadcast_dynamic_shape(array_ops.shape(matrix)[:-2], array_ops.shape(rhs)[:-2])
    return tuple(array_ops.broadcast_to(t, array_ops.concat([lead, array_ops.shape(t)[-2:]], 0)) for t in (matrix, rhs))


class LinearOperator(Module):
    """A stack of matrices [B1, ..., Bb, M, N]."""

    _is_composite = True

    @property
    def _type_spec(self):
        from weft._src.ops.linear_operator_spec import spec_class

        return spec_class(type(self)).from_operator(self)

    def __tf_tracing_type__(self, context):
        return self._type_spec

    def _convert_variables_to_tensors(self):
        return self

    def __init__(
        self,
        dtype,
        graph_parents=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
        parameters=None,
    ):
        super().__init__(name=name or type(self).__name__)
        self._dtype = dtypes.as_dtype(dtype)
        self._parameters = dict(parameters or {})
        self._hints = dict(
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
        )

    # ---- what kinds define: _to_dense at least, or _matmul and _shape

    def _to_dense(self):
        return self._matmul(array_ops.eye(self.domain_dimension_tensor(), dtype=self.dtype))

    def _shape(self):
        return self._to_dense().shape

    def _shape_tensor(self):
        known = self.shape
        return (
            convert_to_tensor(known.as_list(), dtypes.int32)
            if known.is_fully_defined()
            else array_ops.shape(self._to_dense())
        )

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return math_ops.matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = linalg_ops.adjoint(rhs) if adjoint_arg else rhs
        matrix, rhs = _same_batch(self._to_dense(), rhs)
        if self.is_positive_definite and self.is_self_adjoint:
            return linalg_ops.cholesky_solve(raw.Cholesky(input=matrix), rhs)
        return raw.MatrixSolve(matrix=matrix, rhs=rhs, adjoint=adjoint)

    def _diag_part(self):
        return linalg_ops.diag_part(self._to_dense())

    def _determinant(self):
        return raw.MatrixDeterminant(input=self._to_dense())

    def _log_abs_determinant(self):
        return raw.LogMatrixDeterminant(input=self._to_dense()).log_abs_determinant

    # ---- what it is

    @property
    def dtype(self):
        return self._dtype

    @property
    def parameters(self):
        return dict(self._parameters)

    @property
    def graph_parents(self):
        return []

    @property
    def shape(self):
        return self._shape()

    @property
    def batch_shape(self):
        return self.shape[:-2]

    @property
    def tensor_rank(self):
        return self.shape.rank

    @property
    def domain_dimension(self):
        return self.shape[-1]

    @property
    def range_dimension(self):
        return self.shape[-2]

    @property
    def is_square(self):
        given = self._hints.get("is_square")
        if given is None and (self._hints.get("is_self_adjoint") or self._hints.get("is_positive_definite")):
            return True
        known = self.shape[-2:]
        return known[0] == known[1] if given is None and known.is_fully_defined() else given

    is_non_singular = property(
        lambda self: (
            self._hints.get("is_non_singular")
            or (True if self._hints.get("is_positive_definite") else self._hints.get("is_non_singular"))
        )
    )
    is_self_adjoint = property(lambda self: self._hints.get("is_self_adjoint"))
    is_positive_definite = property(lambda self: self._hints.get("is_positive_definite"))

    def shape_tensor(self, name="shape_tensor"):
        return self._shape_tensor()

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        return self._shape_tensor()[:-2]

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        return array_ops.size(self._shape_tensor())

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        known = self.domain_dimension
        return convert_to_tensor(known) if known is not None else self._shape_tensor()[-1]

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        known = self.range_dimension
        return convert_to_tensor(known) if known is not None else self._shape_tensor()[-2]

    # ---- what it does

    def to_dense(self, name="to_dense"):
        """The matrices."""
        with scope(name, "to_dense"):
            return self._to_dense()

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """A x, of a tensor or another operator."""
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = x.adjoint() if adjoint_arg else x
            if (
                left.domain_dimension is not None
                and right.range_dimension is not None
                and left.domain_dimension != right.range_dimension
            ):
                raise ValueError(
                    f"Operators are incompatible. Expected `x` to have dimension {left.domain_dimension} but got {right.range_dimension}."
                )
            return _product(left, right)
        with scope(name, "matmul"):
            x = convert_to_tensor(x, self.dtype, name="x")
            have, want = self.range_dimension if adjoint else self.domain_dimension, x.shape[-1 if adjoint_arg else -2]
            if have is not None and want is not None and have != want:
                raise ValueError(f"Dimensions {have} and {want} are not compatible")
            return self._matmul(x, adjoint, adjoint_arg)

    def __matmul__(self, other):
        return self.matmul(other)

    def matvec(self, x, adjoint=False, name="matvec"):
        """A x, of vectors."""
        x = convert_to_tensor(x, self.dtype, name="x")
        return array_ops.squeeze(self.matmul(array_ops.expand_dims(x, -1), adjoint), [-1])

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """x of A x = rhs."""
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            inverse = (self.adjoint() if adjoint else self).inverse()
            return inverse.matmul(rhs.adjoint() if adjoint_arg else rhs)
        with scope(name, "solve"):
            return self._solve(convert_to_tensor(rhs, self.dtype, name="rhs"), adjoint, adjoint_arg)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """x of A x = rhs, of vectors."""
        rhs = convert_to_tensor(rhs, self.dtype, name="rhs")
        return array_ops.squeeze(self.solve(array_ops.expand_dims(rhs, -1), adjoint), [-1])

    def adjoint(self, name="adjoint"):
        """The adjoint, as an operator."""
        return self if self.is_self_adjoint else self._adjoint()

    def _adjoint(self):
        return LinearOperatorAdjoint(self)

    H = property(lambda self: self.adjoint())

    def inverse(self, name="inverse"):
        """The inverse, as an operator."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._inverse()

    def _inverse(self):
        return LinearOperatorInversion(self)

    def cholesky(self, name="cholesky"):
        """Cholesky's factor, as an operator."""
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        return self._cholesky()

    def _cholesky(self):
        return LinearOperatorLowerTriangular(
            raw.Cholesky(input=self._to_dense()), is_non_singular=True, is_self_adjoint=False, is_square=True
        )

    def _square_only(self, what):
        if self.is_square is False:
            raise NotImplementedError(f"{what} not implemented for an operator that is expected to not be square.")

    def determinant(self, name="det"):
        self._square_only("Determinant")
        return self._determinant()

    def log_abs_determinant(self, name="log_abs_det"):
        self._square_only("Determinant")
        return self._log_abs_determinant()

    def diag_part(self, name="diag_part"):
        return self._diag_part()

    def trace(self, name="trace"):
        return math_ops.reduce_sum(self._diag_part(), axis=-1)

    def add_to_tensor(self, x, name="add_to_tensor"):
        """x + A."""
        return self._to_dense() + convert_to_tensor(x, self.dtype, name="x")

    def eigvals(self, name="eigvals"):
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return linalg_ops.eigvalsh(self._to_dense())

    def cond(self, name="cond"):
        """The condition number."""
        values = linalg_ops.svd(self._to_dense(), compute_uv=False)
        return math_ops.reduce_max(values, -1) / math_ops.reduce_min(values, -1)

    def assert_non_singular(self, name="assert_non_singular"):
        return self._assert_non_singular()

    def _assert_non_singular(self):
        from weft._src.ops.check_ops import assert_less

        return assert_less(
            self.cond(),
            convert_to_tensor(1 / linalg_ops._eps(self.dtype), self.dtype.real_dtype),
            message="Singular matrix up to precision epsilon.",
        )

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        from weft._src.ops.check_ops import assert_equal

        dense = self._to_dense()
        return assert_equal(dense, linalg_ops.adjoint(dense), message="Matrix was not equal to its adjoint.")

    def assert_positive_definite(self, name="assert_positive_definite"):
        from weft._src.ops.check_ops import assert_positive

        return assert_positive(
            math_ops.real(linalg_ops.diag_part(raw.Cholesky(input=self._to_dense()))),
            message="Matrix was not positive definite.",
        )


def _product(left, right):
    """The product of two operators; of simple ones, a simple one."""
    if isinstance(left, LinearOperatorIdentity):
        return right
    if isinstance(right, LinearOperatorIdentity):
        return left
    if isinstance(left, LinearOperatorDiag) and isinstance(right, LinearOperatorDiag):
        return LinearOperatorDiag(left.diag * right.diag)
    both = left.is_non_singular, right.is_non_singular
    return LinearOperatorComposition(
        [left, right],
        is_non_singular=False if False in both else True if all(both) else None,
        is_square=left.is_square and right.is_square or None,
    )


def _no_zeros(diag):
    """An op that fails where a diagonal has a zero."""
    from weft._src.ops.check_ops import assert_less

    size = math_ops.abs(diag)
    zero = convert_to_tensor(0, size.dtype)
    return assert_less(zero, size, message="Singular operator:  Diagonal contained zero values.")


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
        self._matrix = (
            matrix
            if isinstance(matrix, Module) or hasattr(matrix, "assign")
            else convert_to_tensor(matrix, name="matrix")
        )
        self._dtype = self._matrix.dtype
        if self._matrix.shape.rank is not None and self._matrix.shape.rank < 2:
            raise ValueError(f"Argument `matrix` must have at least 2 dimensions. Received: {self._matrix}.")

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
        self._diag = diag if hasattr(diag, "assign") else convert_to_tensor(diag, name="diag")
        self._dtype = self._diag.dtype
        if self._diag.shape.rank is not None and self._diag.shape.rank < 1:
            raise ValueError(f"Argument diag must have at least 1 dimension.  Found: {self._diag}")
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        if not self._dtype.is_complex and is_self_adjoint is None:
            self._hints["is_self_adjoint"] = True
        self._hints["is_square"] = True

    diag = property(lambda self: self._diag)

    def _assert_non_singular(self):
        return _no_zeros(convert_to_tensor(self._diag))

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
        return LinearOperatorDiag(
            math_ops.reciprocal(self._diag),
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
            is_square=True,
        )

    def _adjoint(self):
        return LinearOperatorDiag(
            math_ops.conj(convert_to_tensor(self._diag)), is_non_singular=self.is_non_singular, is_square=True
        )

    def _cholesky(self):
        return LinearOperatorDiag(
            math_ops.sqrt(self._diag),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=True,
            is_square=True,
        )

    def eigvals(self, name="eigvals"):
        return convert_to_tensor(self._diag)


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
        self._tril = tril if hasattr(tril, "assign") else convert_to_tensor(tril, name="tril")
        self._dtype = self._tril.dtype
        if self._tril.shape.rank is not None and self._tril.shape.rank < 2:
            raise ValueError(f"Argument tril must have at least 2 dimensions.  Found: {self._tril}")
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        self._hints["is_square"] = True

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
        return _no_zeros(self._get_diag())

    def _determinant(self):
        return math_ops.reduce_prod(self._diag_part(), axis=[-1])

    def _log_abs_determinant(self):
        return math_ops.cast(math_ops.reduce_sum(math_ops.log(math_ops.abs(self._get_diag())), axis=[-1]), self.dtype)

    def eigvals(self, name="eigvals"):
        return self._diag_part()


class LinearOperatorIdentity(LinearOperator):
    """The identity."""

    @_own_arguments
    def __init__(
        self,
        num_rows,
        batch_shape=None,
        dtype=None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorIdentity",
    ):
        if is_self_adjoint is False or is_non_singular is False or is_positive_definite is False or is_square is False:
            raise ValueError("An identity operator is always self-adjoint, non-singular, positive definite and square.")
        self._rows, self._batch = num_rows, [] if batch_shape is None else batch_shape
        self._dtype = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)

    def _shape(self):
        rows = constant_value(self._rows) if isinstance(self._rows, Tensor) else self._rows
        batch = constant_value(self._batch) if isinstance(self._batch, Tensor) else self._batch
        rows = None if rows is None else int(rows)
        return TensorShape(None if batch is None else [int(b) for b in batch]).concatenate([rows, rows])

    def _to_dense(self):
        return array_ops.eye(self._rows, batch_shape=self._batch, dtype=self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = linalg_ops.adjoint(x) if adjoint_arg else x
        lead = self.batch_shape
        if lead.rank:
            x = array_ops.broadcast_to(
                x, array_ops.broadcast_static_shape(lead, x.shape[:-2]).concatenate(x.shape[-2:])
            )
        return x

    _solve = _matmul

    def _ones(self):
        return array_ops.ones(self.batch_shape, self.dtype)

    def _determinant(self):
        return self._ones()

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape, self.dtype)

    def _diag_part(self):
        return array_ops.ones(self.shape[:-1], self.dtype)

    def _inverse(self):
        return self

    _cholesky = _inverse

    def eigvals(self, name="eigvals"):
        return self._diag_part()


class LinearOperatorScaledIdentity(LinearOperator):
    """A number times the identity."""

    @_own_arguments
    def __init__(
        self,
        num_rows,
        multiplier,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorScaledIdentity",
    ):
        self._rows, self._multiplier = num_rows, convert_to_tensor(multiplier, name="multiplier")
        self._dtype = self._multiplier.dtype
        if not self._dtype.is_complex and is_self_adjoint is None:
            self._hints["is_self_adjoint"] = True

    multiplier = property(lambda self: self._multiplier)

    def _wide(self):
        return array_ops.expand_dims(array_ops.expand_dims(self._multiplier, -1), -1)

    def _shape(self):
        rows = constant_value(self._rows) if isinstance(self._rows, Tensor) else self._rows
        rows = None if rows is None else int(rows)
        return self._multiplier.shape.concatenate([rows, rows])

    def _to_dense(self):
        return self._wide() * array_ops.eye(self._rows, dtype=self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return (math_ops.conj(self._wide()) if adjoint else self._wide()) * (
            linalg_ops.adjoint(x) if adjoint_arg else x
        )

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return (linalg_ops.adjoint(rhs) if adjoint_arg else rhs) / (
            math_ops.conj(self._wide()) if adjoint else self._wide()
        )

    def _inverse(self):
        return LinearOperatorScaledIdentity(
            self._rows,
            1.0 / self._multiplier,
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
            is_square=True,
        )


class LinearOperatorZeros(LinearOperator):
    """Nothing but zeros."""

    @_own_arguments
    def __init__(
        self,
        num_rows,
        num_columns=None,
        batch_shape=None,
        dtype=None,
        is_non_singular=False,
        is_self_adjoint=True,
        is_positive_definite=False,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorZeros",
    ):
        self._sizes = [*(batch_shape or []), num_rows, num_rows if num_columns is None else num_columns]
        self._dtype = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)

    def _shape(self):
        return TensorShape(self._sizes)

    def _to_dense(self):
        return array_ops.zeros(self._sizes, self.dtype)


class LinearOperatorAdjoint(LinearOperator):
    """The adjoint of an operator."""

    @_own_arguments
    def __init__(
        self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None
    ):
        self._operator, self._dtype = operator, operator.dtype
        self._hints.update(
            {
                h: getattr(operator, h)
                for h in ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")
                if self._hints[h] is None
            }
        )

    operator = property(lambda self: self._operator)

    def _shape(self):
        inner = self._operator.shape
        return inner[:-2].concatenate([inner[-1], inner[-2]])

    def _to_dense(self):
        return linalg_ops.adjoint(self._operator.to_dense())

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _adjoint(self):
        return self._operator


class LinearOperatorInversion(LinearOperator):
    """The inverse of an operator."""

    @_own_arguments
    def __init__(
        self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None
    ):
        self._operator, self._dtype = operator, operator.dtype
        self._hints.update(
            {
                h: getattr(operator, h)
                for h in ("is_self_adjoint", "is_positive_definite", "is_square")
                if self._hints[h] is None
            }
        )
        self._hints["is_non_singular"] = True

    operator = property(lambda self: self._operator)

    def _shape(self):
        return self._operator.shape

    def _to_dense(self):
        return self._operator.solve(array_ops.eye(self._operator.domain_dimension_tensor(), dtype=self.dtype))

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _inverse(self):
        return self._operator


class LinearOperatorComposition(LinearOperator):
    """Operators one after the other."""

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
        _hints_of_all(self, "composition", ("is_non_singular",))
        n = len(self._operators)
        mirrored = n % 2 == 0 and all(
            _adjoint_pair(a, b) for a, b in zip(self._operators[: n // 2], reversed(self._operators[n // 2 :]))
        )
        if mirrored or (n == 1 and self._operators[0].is_self_adjoint):
            self._hints["is_self_adjoint"] = True
        if mirrored and self._hints["is_non_singular"]:  # A A^H
            self._hints["is_positive_definite"] = True

    operators = property(lambda self: self._operators)

    def _shape(self):
        lead = self._operators[0].batch_shape
        for op in self._operators[1:]:
            lead = array_ops.broadcast_static_shape(lead, op.batch_shape)
        return lead.concatenate([self._operators[0].range_dimension, self._operators[-1].domain_dimension])

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        for op in self._operators if adjoint else reversed(self._operators):
            x = op.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
            adjoint_arg = False
        return x

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        for op in reversed(self._operators) if adjoint else self._operators:
            rhs = op.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
            adjoint_arg = False
        return rhs
