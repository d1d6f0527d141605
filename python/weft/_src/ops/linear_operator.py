"""tf.linalg.LinearOperator*: matrices by what they do; each kind says what it is, and does better than a dense matrix where it can."""

import inspect

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.tensor_shape import Dimension
from weft._src.ops import array_ops, check_ops, linalg_ops, math_ops
from weft._src.ops import linear_operator_products as products
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
        self._parameters = self._no_dependency(dict(values))
        self._hints = {h: values.get(h) for h in hints}
        Module.__init__(self, name=type(self).__name__)
        function(self, **values)
        _implied(self._hints)

    __init__.__signature__ = signature
    return __init__


def _same_batch(matrix, rhs):
    """Both for each matrix of the stack."""
    a, b = matrix.shape[:-2], rhs.shape[:-2]
    if a.is_fully_defined() and a == b:
        return matrix, rhs
    lead = array_ops.broadcast_dynamic_shape(array_ops.shape(matrix)[:-2], array_ops.shape(rhs)[:-2])
    return tuple(array_ops.broadcast_to(t, array_ops.concat([lead, array_ops.shape(t)[-2:]], 0)) for t in (matrix, rhs))


def _implied(hints):
    """What the hints say together; contradictions are errors."""
    if hints["is_positive_definite"]:
        if hints["is_non_singular"] is False:
            raise ValueError("A positive definite matrix is always non-singular.")
        hints["is_non_singular"] = True
    for hint, words in (("is_non_singular", "non-singular"), ("is_self_adjoint", "self-adjoint")):
        if hints[hint]:
            if hints["is_square"] is False:
                raise ValueError("A %s matrix is always square." % words)
            hints["is_square"] = True


def _kept(value, dtype=None, name=None):
    """An argument as a tensor; variables stay what they are, so that gradients and new values are seen."""
    return (
        value if isinstance(value, Module) or hasattr(value, "assign") else convert_to_tensor(value, dtype, name=name)
    )


def _compatible(have, want):
    if have is not None and want is not None and have != want:
        raise ValueError(f"Dimensions {have} and {want} are not compatible")


def slice_batch(value, slices, matrix_rank, batch_rank):
    """What brackets on a stack of matrices take of an argument, the last axes of which are the matrices'."""
    own = value.shape.rank - matrix_rank
    if not isinstance(value, LinearOperator):
        value = value[(None,) * (batch_rank - own) + (...,)]
    slices = slices if isinstance(slices, tuple) else (slices,)
    counted = sum(s is not None and s is not Ellipsis for s in slices)
    taken = []
    for s in slices:
        taken += [slice(None)] * (batch_rank - counted) if s is Ellipsis else [s]
    axis, sizes, out = 0, value.shape.as_list(), []
    skipped = batch_rank - own if isinstance(value, LinearOperator) else 0
    for s in taken:
        if s is None:
            out.append(s)
            continue
        if axis >= skipped:
            one = axis < batch_rank and sizes[axis - skipped] == 1  # one matrix for the whole axis
            out.append(s if not one else slice(None) if isinstance(s, slice) else 0)
        axis += 1
    return value[(*out, ...)] if out else value


class LinearOperator(Module, CompositeTensor):
    """A stack of matrices [B1, ..., Bb, M, N]."""

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
        super().__init__(name=type(self).__name__)
        self._dtype = dtypes.as_dtype(dtype)
        self._parameters = dict(parameters or {})
        self._hints = dict(
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
        )
        _implied(self._hints)

    # ---- what kinds define: _to_dense at least, or _matmul and _shape

    def _to_dense(self):
        return self._matmul(self._eye())

    def _eye(self):
        """The identity of as many rows as this has columns, for each matrix of the stack."""
        return array_ops.eye(self.domain_dimension_tensor(), batch_shape=self.batch_shape_tensor(), dtype=self.dtype)

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
        if self._can_use_cholesky():
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
        return Dimension(self._size(-1))

    @property
    def range_dimension(self):
        return Dimension(self._size(-2))

    def _size(self, axis):
        """The number of rows (-2) or columns (-1), None where it is open."""
        known = self.shape
        return None if known.rank is None else known.as_list()[axis]

    @property
    def name(self):
        return self._hints.get("name") or self._default_name()

    def _default_name(self):
        return type(self).__name__

    @property
    def is_square(self):
        given, rows, columns = self._hints.get("is_square"), self._size(-2), self._size(-1)
        known = None if rows is None or columns is None else rows == columns
        if given is False and known:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return known if given is None else given

    is_non_singular = property(lambda self: self._hints.get("is_non_singular"))
    is_self_adjoint = property(lambda self: self._hints.get("is_self_adjoint"))
    is_positive_definite = property(lambda self: self._hints.get("is_positive_definite"))

    def shape_tensor(self, name="shape_tensor"):
        return self._shape_tensor()

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        return self._shape_tensor()[:-2]

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        return array_ops.size(self._shape_tensor())

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        known = self._size(-1)
        return convert_to_tensor(known) if known is not None else self._shape_tensor()[-1]

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        known = self._size(-2)
        return convert_to_tensor(known) if known is not None else self._shape_tensor()[-2]

    # ---- what it does

    def to_dense(self, name="to_dense"):
        """The matrices."""
        with scope(name, "to_dense"):
            return self._to_dense()

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """A x, of a tensor or another operator."""
        if isinstance(x, LinearOperator):
            left, right = self._pair(x, "x", adjoint, adjoint_arg)
            return products.product(left, right)
        with scope(name, "matmul"):
            x = self._checked(x, "x", -2 if adjoint else -1, -1 if adjoint_arg else -2)
            return self._matmul(x, adjoint, adjoint_arg)

    def _pair(self, other, name, adjoint, adjoint_arg):
        """The two operators of a product, which fit."""
        left, right = self.adjoint() if adjoint else self, other.adjoint() if adjoint_arg else other
        columns, rows = left._size(-1), right._size(-2)
        if columns is not None and rows is not None and columns != rows:
            raise ValueError(
                f"Operators are incompatible. Expected `{name}` to have dimension {columns} but got {rows}."
            )
        return left, right

    def _checked(self, x, name, own_axis, axis):
        """A tensor argument of the operator's dtype whose axis is as long as the operator's own."""
        x = convert_to_tensor(x, name=name)
        self._check_input_dtype(x)
        _compatible(self._size(own_axis), None if x.shape.rank is None else x.shape.as_list()[axis])
        return x

    def _check_input_dtype(self, x):
        if x.dtype.base_dtype != self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype}.  Found: {x.dtype} in tensor {x!s}")

    def __matmul__(self, other):
        return self.matmul(other)

    def matvec(self, x, adjoint=False, name="matvec"):
        """A x, of vectors."""
        x = self._checked(x, "x", -2 if adjoint else -1, -1)
        return array_ops.squeeze(self.matmul(array_ops.expand_dims(x, -1), adjoint), [-1])

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """x of A x = rhs."""
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            left, right = self._pair(rhs, "rhs", adjoint, adjoint_arg)
            return products.solution(left, right)
        with scope(name, "solve"):
            rhs = self._checked(rhs, "rhs", -1 if adjoint else -2, -1 if adjoint_arg else -2)
            return self._solve(rhs, adjoint, adjoint_arg)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """x of A x = rhs, of vectors."""
        rhs = self._checked(rhs, "rhs", -1 if adjoint else -2, -1)
        return array_ops.squeeze(self.solve(array_ops.expand_dims(rhs, -1), adjoint), [-1])

    def adjoint(self, name="adjoint"):
        """The adjoint, as an operator."""
        return self if self.is_self_adjoint else self._adjoint()

    def _adjoint(self):
        return products.kind("LinearOperatorAdjoint")(self, **self._known_hints())

    def _known_hints(self, **others):
        """The hints of an operator that is like this one."""
        names = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")
        return {**{n: getattr(self, n) for n in names}, **others}

    H = property(lambda self: self.adjoint())

    def inverse(self, name="inverse"):
        """The inverse, as an operator."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._inverse()

    def _inverse(self):
        return products.kind("LinearOperatorInversion")(self, **self._known_hints())

    def _can_use_cholesky(self):
        return self.is_self_adjoint and self.is_positive_definite

    def cholesky(self, name="cholesky"):
        """Cholesky's factor, as an operator."""
        if not self._can_use_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        return self._cholesky()

    def _cholesky(self):
        return products.kind("LinearOperatorLowerTriangular")(
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
        return self._trace()

    def _trace(self):
        return math_ops.reduce_sum(self.diag_part(), axis=-1)

    def add_to_tensor(self, x, name="add_to_tensor"):
        """x + A."""
        x = convert_to_tensor(x, name="x")
        self._check_input_dtype(x)
        return self._to_dense() + x

    def eigvals(self, name="eigvals"):
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def _eigvals(self):
        return linalg_ops.eigvalsh(self._to_dense())

    def cond(self, name="cond"):
        """The condition number."""
        return self._cond()

    def _cond(self):
        if self.is_self_adjoint:
            values = math_ops.abs(self._eigvals())
        else:
            values = linalg_ops.svd(self._to_dense(), compute_uv=False)
        return math_ops.reduce_max(values, -1) / math_ops.reduce_min(values, -1)

    _matrix_ranks = {}  # of the arguments that are stacks: how many of the last axes make one matrix

    def __getitem__(self, slices):
        given, rank = dict(self.parameters), self.shape.rank - 2
        for name, matrix_rank in self._matrix_ranks.items():
            value = getattr(self, name)
            if value is None or given[name] is None:
                continue
            if isinstance(value, (list, tuple)):
                given[name] = [
                    slice_batch(v, slices, 2 if isinstance(v, LinearOperator) else matrix_rank, rank) for v in value
                ]
            else:
                given[name] = slice_batch(value, slices, 2 if isinstance(value, LinearOperator) else matrix_rank, rank)
        return type(self)(**given)

    def assert_non_singular(self, name="assert_non_singular"):
        return self._assert_non_singular()

    def _assert_non_singular(self):
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = linalg_ops.svd(self._to_dense(), compute_uv=False)
        largest = math_ops.reduce_max(values, -1) / math_ops.reduce_min(values, -1)
        sizes = [
            math_ops.cast(n, largest.dtype) for n in (self.range_dimension_tensor(), self.domain_dimension_tensor())
        ]
        many = math_ops.reduce_max(array_ops.stack([convert_to_tensor(100.0, largest.dtype), *sizes]))
        return check_ops.assert_less(
            largest, 1 / (many * linalg_ops._eps(self.dtype)), message="Singular matrix up to precision epsilon."
        )

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        return self._assert_self_adjoint()

    def _assert_self_adjoint(self):
        dense = self._to_dense()
        return check_ops.assert_equal(dense, linalg_ops.adjoint(dense), message="Matrix was not equal to its adjoint.")

    def assert_positive_definite(self, name="assert_positive_definite"):
        return self._assert_positive_definite()

    def _assert_positive_definite(self):
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        factor = raw.Cholesky(input=self._to_dense())
        return check_ops.assert_positive(
            math_ops.real(linalg_ops.diag_part(factor)), message="Matrix was not positive definite."
        )
