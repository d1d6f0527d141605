"""tf.linalg.LinearOperator*: operators in blocks, along the diagonal and below it. They also take vectors and matrices as lists of blocks."""

import functools

from weft._src.framework import dtypes, nest
from weft._src.framework.convert import convert_to_tensor
from weft._src.function.control_flow import group
from weft._src.ops import array_ops, check_ops, math_ops
from weft._src.ops.linear_operator import LinearOperator, _compatible, _own_arguments
from weft._src.ops.linear_operator_composed import hints_of_all, keep_operators
from weft._src.ops.linear_operator_products import kind


def common_batch(operators):
    """The batch shape of all of them together."""
    return functools.reduce(array_ops.broadcast_static_shape, (op.batch_shape for op in operators))


def is_blockwise(sizes, value, axis):
    """Whether a value is a list of blocks of these sizes along an axis, and not one value that is written as lists."""
    if not isinstance(value, (list, tuple)) or len(value) != len(sizes):
        return False
    if not any(nest.is_nested(block) for block in value):
        return True
    given = [convert_to_tensor(block).shape[axis] for block in value]
    if all(size is None for size in sizes):
        if len(given) > 1 and all(n == given[0] for n in given):
            raise ValueError(
                "Parsing of the input structure is ambiguous. Please input a blockwise iterable of `Tensor`s or a single `Tensor`."
            )
        return len(given) > 1
    if all(size in (None, n) for size, n in zip(sizes, given)):
        return True
    if all(n == given[0] for n in given) and given[0] >= sum(size for size in sizes if size is not None):
        return False
    raise ValueError("Input dimension does not match operator dimension.")


def _joined(blocks):
    """Blocks below each other, each for every matrix of the stack."""
    lead = functools.reduce(array_ops.broadcast_dynamic_shape, (array_ops.shape(b)[:-2] for b in blocks))
    if any(b.shape.rank != 2 for b in blocks):
        blocks = [array_ops.broadcast_to(b, array_ops.concat([lead, array_ops.shape(b)[-2:]], 0)) for b in blocks]
    return array_ops.concat(blocks, -2)


class _Blocks(LinearOperator):
    """What is done block by block."""

    def _on_diagonal(self):
        raise NotImplementedError

    def _block_sizes(self, axis):
        return [op._size(axis) for op in self._on_diagonal()]

    def _block_domain_dimensions(self):
        return [op.domain_dimension for op in self._on_diagonal()]

    def _block_range_dimensions(self):
        return [op.range_dimension for op in self._on_diagonal()]

    def _block_domain_dimension_tensors(self):
        return [op.domain_dimension_tensor() for op in self._on_diagonal()]

    def _block_range_dimension_tensors(self):
        return [op.range_dimension_tensor() for op in self._on_diagonal()]

    def _shape_tensor(self):
        known = self.shape
        if known.is_fully_defined():
            return convert_to_tensor(known.as_list(), dtypes.int32)
        parts = nest.flatten(self._operators)
        lead = functools.reduce(array_ops.broadcast_dynamic_shape, (op.batch_shape_tensor() for op in parts))
        rows, columns = sum(self._block_range_dimension_tensors()), sum(self._block_domain_dimension_tensors())
        return array_ops.concat([lead, [rows, columns]], 0)

    def _each_block(self, blocks, own_axis, axis):
        """A list of blocks as tensors that fit; operators stay."""
        sizes, out = self._block_sizes(own_axis), []
        for size, block in zip(sizes, blocks):
            if not isinstance(block, LinearOperator):
                block = convert_to_tensor(block)
                self._check_input_dtype(block)
                _compatible(size, block.shape[axis])
            out.append(block)
        return out

    def _split(self, x, own_axis, axis):
        """A matrix as blocks."""
        sizes = self._block_sizes(own_axis)
        if None in sizes:
            columns = own_axis == -1
            sizes = self._block_domain_dimension_tensors() if columns else self._block_range_dimension_tensors()
            sizes = array_ops.stack(sizes)
        return array_ops.split(x, sizes, axis=axis, num=len(self._on_diagonal()))

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        own, axis = -2 if adjoint else -1, -1 if adjoint_arg else -2
        if not isinstance(x, LinearOperator) and is_blockwise(self._block_sizes(own), x, axis):
            return self._products(self._each_block(x, own, axis), adjoint, adjoint_arg)
        return super().matmul(x, adjoint, adjoint_arg, name)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        own, axis = -1 if adjoint else -2, -1 if adjoint_arg else -2
        solvable = self.is_non_singular is not False and self.is_square is not False
        if solvable and not isinstance(rhs, LinearOperator) and is_blockwise(self._block_sizes(own), rhs, axis):
            return self._solutions(self._each_block(rhs, own, axis), adjoint, adjoint_arg)
        return super().solve(rhs, adjoint, adjoint_arg, name)

    def matvec(self, x, adjoint=False, name="matvec"):
        own = -2 if adjoint else -1
        if is_blockwise(self._block_sizes(own), x, -1):
            columns = [array_ops.expand_dims(b, -1) for b in self._each_block(x, own, -1)]
            return [array_ops.squeeze(y, [-1]) for y in self.matmul(columns, adjoint)]
        return super().matvec(x, adjoint, name)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        own = -1 if adjoint else -2
        if is_blockwise(self._block_sizes(own), rhs, -1):
            columns = [array_ops.expand_dims(b, -1) for b in self._each_block(rhs, own, -1)]
            return [array_ops.squeeze(y, [-1]) for y in self.solve(columns, adjoint)]
        return super().solvevec(rhs, adjoint, name)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        blocks = self._split(x, -2 if adjoint else -1, -1 if adjoint_arg else -2)
        return _joined(self._products(blocks, adjoint, adjoint_arg))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        blocks = self._split(rhs, -1 if adjoint else -2, -1 if adjoint_arg else -2)
        return _joined(self._solutions(blocks, adjoint, adjoint_arg))

    def _squares_only(self, what):
        if not all(op.is_square for op in self._on_diagonal()):
            raise NotImplementedError(f"`{what}` not implemented for an operator whose blocks are not square.")

    def _determinant(self):
        return functools.reduce(lambda a, b: a * b, (op.determinant() for op in self._on_diagonal()))

    def _log_abs_determinant(self):
        return functools.reduce(lambda a, b: a + b, (op.log_abs_determinant() for op in self._on_diagonal()))

    def _lines(self, what):
        self._squares_only(what)
        lines = [getattr(op, what)()[..., None] for op in self._on_diagonal()]
        return array_ops.squeeze(_joined(lines), [-1])

    def _diag_part(self):
        return self._lines("diag_part")

    def _eigvals(self):
        return self._lines("eigvals")

    def _trace(self):
        self._squares_only("trace")
        return functools.reduce(lambda a, b: a + b, (op.trace() for op in self._on_diagonal()))

    def _assert_non_singular(self):
        return self._asserted("assert_non_singular")

    def _asserted(self, method):
        checks = [getattr(op, method)() for op in self._on_diagonal()]
        return group(*[c for c in checks if c is not None])


class LinearOperatorBlockDiag(_Blocks):
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
        keep_operators(self, operators)
        hints_of_all(self, "direct sum")

    _matrix_ranks = {"operators": 2}
    operators = property(lambda self: self._operators)

    def _on_diagonal(self):
        return self._operators

    def _default_name(self):
        return "_ds_".join(op.name for op in self._operators)

    def _shape(self):
        sizes = [self._block_sizes(axis) for axis in (-2, -1)]
        return common_batch(self._operators).concatenate([None if None in n else sum(n) for n in sizes])

    def _each(self, method, **hints):
        return LinearOperatorBlockDiag([getattr(op, method)() for op in self._operators], **hints)

    def _adjoint(self):
        return self._each("adjoint", **self._known_hints(is_square=True))

    def _inverse(self):
        return self._each("inverse", **self._known_hints(is_square=True))

    def _cholesky(self):
        return self._each("cholesky", is_non_singular=True)

    def _products(self, blocks, adjoint, adjoint_arg):
        return [op.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg) for op, x in zip(self._operators, blocks)]

    def _solutions(self, blocks, adjoint, adjoint_arg):
        return [op.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg) for op, x in zip(self._operators, blocks)]

    def _assert_self_adjoint(self):
        return self._asserted("assert_self_adjoint")

    def _assert_positive_definite(self):
        return self._asserted("assert_positive_definite")


class LinearOperatorBlockLowerTriangular(_Blocks):
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
        check_ops.assert_proper_iterable(operators)
        for row in operators:
            check_ops.assert_proper_iterable(row)
        self._operators = rows = [list(row) for row in operators]
        if not rows:
            raise ValueError(f"Argument `operators` must be a list of >=1 operators. Received: {rows}.")
        self._dtype = rows[0][0].dtype
        for i, row in enumerate(rows):
            if any(op.dtype != self._dtype for op in row):
                found = [str((op.name, op.dtype)) for op in row]
                raise TypeError(
                    f"Expected all operators to have the same dtype.  Found {found} in row {i} and {self._dtype} in row 0."
                )
        self._hints["is_non_singular"] = self._from_diagonal(is_non_singular)
        for i, row in enumerate(rows):
            if len(row) != i + 1:
                raise ValueError(
                    f"Argument `operators[{i}]` must contain `{i + 1}` blocks. Received: {len(row)} blocks."
                )
        self._check_sizes()
        if is_square is False:
            raise ValueError(
                "`LinearOperatorBlockLowerTriangular` must be square. Expected argument `is_square` to be True. Received: False."
            )
        for i, op in enumerate(self._on_diagonal()):
            if op.is_square is False:
                raise ValueError(
                    "Matrices on the diagonal (the final elements of each row-partition in the `operators` list) must be square. "
                    f"Expected argument `operators[{i}][-1].is_square` to be True. Received: False."
                )
        self._hints["is_square"] = True

    operators = property(lambda self: self._operators)

    def _on_diagonal(self):
        return [row[-1] for row in self._operators]

    def _from_diagonal(self, given):
        known = [op.is_non_singular for op in self._on_diagonal()]
        start = "A blockwise lower-triangular operator with"
        end = f"Expected argument `is_non_singular` to be True. Received: {given}."
        if all(known):
            if given is False:
                raise ValueError(f"{start} non-singular operators on the main diagonal is always non-singular. {end}")
            return True
        if False in known:
            if given is True:
                raise ValueError(f"{start} a singular operator on the main diagonal is always singular. {end}")
            return False
        return None

    def _check_sizes(self):
        """Blocks above each other have as many columns, beside each other as many rows."""
        rows = self._operators
        for i in range(1, len(rows)):
            for j in range(i):
                op = rows[i][j]
                for axis, name, other, k, m in (
                    (-1, "domain_dimension", rows[i - 1][j], i - 1, j),
                    (-2, "range_dimension", rows[i][j + 1], i, j + 1),
                ):
                    a, b = op._size(axis), other._size(axis)
                    if None not in (a, b) and a != b:
                        raise ValueError(
                            f"Argument `operators[{i}][{j}].{name}` ({a}) must be the same as "
                            f"`operators[{k}][{m}].{name}` ({b})."
                        )

    def _shape(self):
        sizes = [self._block_sizes(axis) for axis in (-2, -1)]
        lead = common_batch(op for row in self._operators for op in row)
        return lead.concatenate([None if None in n else sum(n) for n in sizes])

    def __getitem__(self, slices):
        from weft._src.ops.linear_operator import slice_batch

        rank = self.shape.rank - 2
        rows = [[slice_batch(op, slices, 2, rank) for op in row] for row in self._operators]
        return type(self)(**{**self.parameters, "operators": rows})

    def _inverse(self):
        """The inverses along the diagonal; below it what makes the product with this operator zero there."""
        rows = self._operators
        made = [[None] * i + [row[-1].inverse()] for i, row in enumerate(rows)]
        for i in range(len(rows)):
            for j in range(i):
                terms = [rows[i][k].matmul(made[k][j].to_dense()) for k in range(j, i)]
                made[i][j] = kind("LinearOperatorFullMatrix")(
                    -made[i][i].matmul(functools.reduce(lambda a, b: a + b, terms))
                )
        return LinearOperatorBlockLowerTriangular(made, **self._known_hints(is_square=True))

    def _products(self, blocks, adjoint, adjoint_arg):
        """Row by row; of the adjoint, column by column from the diagonal down."""
        rows, out = self._operators, []
        for i in range(len(rows)):
            if adjoint:
                parts = [(rows[k][i], blocks[k]) for k in range(i, len(rows))]
            else:
                parts = list(zip(rows[i], blocks))
            terms = [op.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg) for op, x in parts]
            out.append(functools.reduce(lambda a, b: a + b, terms))
        return out

    def _solutions(self, blocks, adjoint, adjoint_arg):
        """By substitution, forwards; of the adjoint, backwards."""
        from weft._src.ops import linalg_ops

        rows = self._operators
        if adjoint_arg:
            blocks = [linalg_ops.adjoint(b) for b in blocks]
        found = [None] * len(rows)
        for i in reversed(range(len(rows))) if adjoint else range(len(rows)):
            rest = blocks[i]
            for k in range(i + 1, len(rows)) if adjoint else range(i):
                op = rows[k][i] if adjoint else rows[i][k]
                rest = rest - op.matmul(found[k], adjoint=adjoint)
            found[i] = rows[i][-1].solve(rest, adjoint=adjoint)
        return found
