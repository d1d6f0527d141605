"""tf.linalg.LinearOperator*: the identity, multiples of it, and zeros."""

from weft._src.framework import dtypes, errors
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.graph import control_dependencies
from weft._src.framework.tensor_shape import TensorShape
from weft._src.function.control_flow import no_op
from weft._src.ops import array_ops, check_ops, linalg_ops, math_ops
from weft._src.ops.linear_operator import LinearOperator, _kept, _own_arguments
from weft._src.ops.linear_operator_kinds import real_is_self_adjoint


class _ByRows(LinearOperator):
    """What is known by its number of rows and the shape of its stack."""

    def _keep_sizes(self, batch_shape, assert_proper_shapes, **sizes):
        """Integers that are not negative: constants are looked at here, others by ops where that is asked for."""
        self._sizes = [_integers(n, name, 0, assert_proper_shapes) for name, n in sizes.items()]
        self._batch = None if batch_shape is None else _integers(batch_shape, "batch_shape", 1, assert_proper_shapes)
        self._asserts_sizes = assert_proper_shapes

    def _argument(self, x, adjoint, adjoint_arg):
        """An argument as it is multiplied; where asked for, an op sees to its size."""
        x = linalg_ops.adjoint(x) if adjoint_arg else x
        if self._asserts_sizes:
            own = self.range_dimension_tensor() if adjoint else self.domain_dimension_tensor()
            text = "Dimensions are not compatible.  shape[-2] of argument to be the same as this operator"
            check = check_ops.assert_equal(array_ops.shape(x)[-2], math_ops.cast(own, dtypes.int32), message=text)
            if check is not None:
                with control_dependencies([check]):
                    x = array_ops.identity(x)
        return x

    def _shape(self):
        rows, columns = (constant_value(n) for n in (self._sizes[0], self._sizes[-1]))
        batch = [] if self._batch is None else constant_value(self._batch)
        lead = TensorShape(None if batch is None else [int(b) for b in batch])
        return lead.concatenate([None if n is None else int(n) for n in (rows, columns)])

    def _shape_tensor(self):
        sizes = array_ops.stack([math_ops.cast(n, dtypes.int32) for n in (self._sizes[0], self._sizes[-1])])
        return sizes if self._batch is None else array_ops.concat([math_ops.cast(self._batch, dtypes.int32), sizes], 0)

    def _over_batch(self, x):
        """x, for each matrix of the stack."""
        if self._batch is None:
            return x
        lead = self.batch_shape
        if lead.is_fully_defined() and array_ops.broadcast_static_shape(x.shape, lead.concatenate([1, 1])) == x.shape:
            return x
        return x + array_ops.zeros(array_ops.concat([self.batch_shape_tensor(), [1, 1]], 0), x.dtype)

    def __getitem__(self, slices):
        given = self.parameters
        if self._batch is not None:
            given["batch_shape"] = array_ops.shape(array_ops.ones(self._batch)[slices])
        return type(self)(**given)


def _integers(value, name, rank, with_ops):
    if hasattr(value, "assign"):
        raise TypeError(f"Argument {name} cannot be reference type. Found: {type(value)}.")
    plain = isinstance(value, TensorShape) or isinstance(value, (list, tuple)) and not value
    value = convert_to_tensor(value, dtypes.int32 if plain else None, name=name)
    words = f"Argument {name} must be"
    if with_ops:
        text = f"{words} {'a 0-D' if rank == 0 else 'a 1-D'} Tensor."
        checks = [
            check_ops.assert_rank(value, rank, message=text),
            check_ops.assert_non_negative(value, message=f"{words} non-negative."),
        ]
        with control_dependencies([c for c in checks if c is not None]):
            value = array_ops.identity(value)
    if not value.dtype.is_integer:
        raise TypeError(f"{words} integer type.  Found: {value!s}")
    known = constant_value(value)
    if known is not None:
        if known.ndim != rank:
            raise ValueError(f"{words} a {rank}-D Tensor.  Found: {known}")
        if (known < 0).any():
            raise ValueError(f"{words} non-negative.  Found:{' ' if rank == 0 else ''}{known}")
    return value


class LinearOperatorIdentity(_ByRows):
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
        for given, words in (
            (is_self_adjoint, "self adjoint"),
            (is_non_singular, "non-singular"),
            (is_positive_definite, "positive-definite"),
            (is_square, "square"),
        ):
            if not given:
                raise ValueError(f"An identity operator is always {words}.")
        self._dtype = dtypes.as_dtype(dtype or dtypes.float32)
        self._keep_sizes(batch_shape, assert_proper_shapes, num_rows=num_rows)

    def _to_dense(self):
        return array_ops.eye(self._sizes[0], batch_shape=self._batch, dtype=self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._over_batch(self._argument(x, adjoint, adjoint_arg))

    _solve = _matmul

    def _determinant(self):
        return array_ops.ones(self.batch_shape_tensor(), self.dtype)

    _cond = _determinant

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)

    def _diag_part(self):
        return array_ops.ones(self._shape_tensor()[:-1], self.dtype)

    _eigvals = _diag_part

    def _trace(self):
        return math_ops.cast(self.domain_dimension_tensor(), self.dtype) * self._determinant()

    def add_to_tensor(self, mat, name="add_to_tensor"):
        mat = convert_to_tensor(mat, name="mat")
        return linalg_ops.set_diag(mat, 1 + linalg_ops.diag_part(mat))

    def _inverse(self):
        return self

    def _cholesky(self):
        return LinearOperatorIdentity(self._sizes[0], batch_shape=self._batch, dtype=self.dtype)

    def _nothing_to_assert(self):
        return no_op()

    _assert_non_singular = _assert_positive_definite = _assert_self_adjoint = _nothing_to_assert


class LinearOperatorScaledIdentity(_ByRows):
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
        self._multiplier = _kept(multiplier, name="multiplier")
        self._dtype = self._multiplier.dtype
        real_is_self_adjoint(self)
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        self._keep_sizes(None, assert_proper_shapes, num_rows=num_rows)

    _matrix_ranks = {"multiplier": 0}
    multiplier = property(lambda self: self._multiplier)
    __getitem__ = LinearOperator.__getitem__

    def _wide(self):
        return array_ops.expand_dims(array_ops.expand_dims(self._multiplier, -1), -1)

    def _shape(self):
        rows = constant_value(self._sizes[0])
        rows = None if rows is None else int(rows)
        return self._multiplier.shape.concatenate([rows, rows])

    def _shape_tensor(self):
        rows = math_ops.cast(self._sizes[0], dtypes.int32)
        return array_ops.concat([array_ops.shape(self._multiplier), [rows, rows]], 0)

    def _to_dense(self):
        return self._wide() * array_ops.eye(self._sizes[0], dtype=self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return (math_ops.conj(self._wide()) if adjoint else self._wide()) * self._argument(x, adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        factor = math_ops.conj(self._wide()) if adjoint else self._wide()
        return self._argument(rhs, adjoint, adjoint_arg) / factor

    def _like(self, multiplier, **hints):
        return LinearOperatorScaledIdentity(self._sizes[0], multiplier, **self._known_hints(is_square=True, **hints))

    def _inverse(self):
        return self._like(1.0 / self._multiplier, is_self_adjoint=True)

    def _adjoint(self):
        return self._like(math_ops.conj(self._multiplier))

    def _cholesky(self):
        return self._like(math_ops.sqrt(self._multiplier), is_non_singular=True)

    def _rows_as(self, dtype):
        return math_ops.cast(self._sizes[0], dtype)

    def _determinant(self):
        return self._multiplier ** self._rows_as(self.dtype)

    def _log_abs_determinant(self):
        return self._rows_as(self.dtype.real_dtype) * math_ops.log(math_ops.abs(self._multiplier))

    def _trace(self):
        return self._multiplier * self._rows_as(self.dtype)

    def _diag_part(self):
        return self._multiplier[..., None] * array_ops.ones(self._shape_tensor()[:-1], self.dtype)

    _eigvals = _diag_part

    def _cond(self):
        one, open_ = (convert_to_tensor(v, self.dtype) for v in (1, float("nan")))
        return array_ops.where(math_ops.equal(self._multiplier, 0), open_, one)

    def add_to_tensor(self, mat, name="add_to_tensor"):
        mat = convert_to_tensor(mat, name="mat")
        return linalg_ops.set_diag(mat, self._multiplier[..., None] + linalg_ops.diag_part(mat))

    def _assert_non_singular(self):
        return check_ops.assert_positive(math_ops.abs(self._multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self):
        text = "LinearOperator was not positive definite."
        return check_ops.assert_positive(math_ops.real(self._multiplier), message=text)

    def _assert_self_adjoint(self):
        part = math_ops.imag(self._multiplier)
        return check_ops.assert_equal(array_ops.zeros_like(part), part, message="LinearOperator was not self-adjoint")


class LinearOperatorZeros(_ByRows):
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
        self._dtype = dtypes.as_dtype(dtype or dtypes.float32)
        if not is_self_adjoint and is_square:
            raise ValueError("A zero operator is always self adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        columns = num_rows if num_columns is None else num_columns
        self._keep_sizes(batch_shape, assert_proper_shapes, num_rows=num_rows, num_columns=columns)
        rows, columns = (constant_value(n) for n in self._sizes)
        if is_square and rows is not None and columns is not None and rows != columns:
            raise ValueError(
                f"LinearOperatorZeros initialized as is_square=True, but got num_rows({rows}) != num_columns({columns})"
            )

    def _to_dense(self):
        return array_ops.zeros(self.shape_tensor(), self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = self._argument(x, adjoint, adjoint_arg)
        sizes = array_ops.shape(x)
        rows = math_ops.cast(self._sizes[-1] if adjoint else self._sizes[0], dtypes.int32)
        return self._over_batch(array_ops.zeros(array_ops.concat([sizes[:-2], [rows, sizes[-1]]], 0), x.dtype))

    def _determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)

    _trace = _determinant

    def _diag_part(self):
        sizes = self.shape_tensor()
        least = math_ops.reduce_min(sizes[-2:])
        return array_ops.zeros(array_ops.concat([sizes[:-2], [least]], 0), self.dtype)

    _eigvals = _diag_part

    def add_to_tensor(self, mat, name="add_to_tensor"):
        return self._over_batch(convert_to_tensor(mat, name="mat"))

    def _assert_non_singular(self):
        raise errors.InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self):
        raise errors.InvalidArgumentError(None, None, "Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        return no_op()
