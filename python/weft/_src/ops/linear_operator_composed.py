"""tf.linalg.LinearOperator*: adjoints, inverses and products of operators."""

import functools

from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.function.control_flow import group
from weft._src.ops import array_ops, check_ops, linalg_ops, math_ops
from weft._src.ops.linear_operator import LinearOperator, _compatible, _own_arguments
from weft._src.ops.linear_operator_kinds import LinearOperatorLowerTriangular


def keep_operators(operator, parts):
    """The parts of an operator, of one dtype."""
    check_ops.assert_proper_iterable(parts)
    parts = list(parts)
    if not parts:
        if type(operator).__name__ == "LinearOperatorKronecker":
            raise ValueError(f"Argument `operators` must be a list of >=1 operators. Received: {parts}.")
        raise ValueError(f"Expected a non-empty list of operators. Found: {parts}")
    operator._operators, operator._dtype = parts, parts[0].dtype
    if any(op.dtype != operator._dtype for op in parts):
        found = [str((op.name, op.dtype)) for op in parts]
        if type(operator).__name__ == "LinearOperatorKronecker":
            raise TypeError(
                f"Expected every operation in argument `operators` to have the same dtype. Received {found}."
            )
        raise TypeError(f"Expected all operators to have the same dtype.  Found {'   '.join(found)}")


def hints_of_all(self, what, hints=("is_non_singular", "is_self_adjoint", "is_positive_definite")):
    """What all parts of an operator are, it is, too."""
    for hint in hints:
        if all(getattr(op, hint) for op in self._operators):
            if self._hints[hint] is False:
                words = hint.removeprefix("is_").replace("_", "-")
                if what == "direct sum":
                    words = words.replace("positive-", "positive ")
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


def _combined(operator, hints, changed, fixed=None):
    """What a hint says and what the operator has must agree."""
    for hint in ("is_square", "is_non_singular", "is_self_adjoint", "is_positive_definite"):
        own, given = getattr(operator, hint), hints[hint]
        words = hint.removeprefix("is_").replace("_", "-")
        if None not in (own, given) and own != given:
            raise ValueError(f"An operator is {words} if and only if its {changed} is {words}.")
        hints[hint] = own if given is None else given


class _OfOne(LinearOperator):
    """What is made of one operator, and holds of both or of none."""

    _matrix_ranks = {"operator": 2}
    operator = property(lambda self: self._operator)

    def _assert_non_singular(self):
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self):
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self):
        return self._operator.assert_self_adjoint()

    def _cond(self):
        return self._operator.cond()


class LinearOperatorAdjoint(_OfOne):
    """The adjoint of an operator."""

    @_own_arguments
    def __init__(
        self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None
    ):
        self._operator, self._dtype = operator, operator.dtype
        _combined(operator, self._hints, "adjoint")

    def _default_name(self):
        return self._operator.name + "_adjoint"

    def _shape_tensor(self):
        inner = self._operator.shape_tensor()
        return array_ops.concat([inner[:-2], [inner[-1], inner[-2]]], -1)

    def _determinant(self):
        return math_ops.conj(self._operator.determinant())

    def _log_abs_determinant(self):
        return self._operator.log_abs_determinant()

    def _trace(self):
        return math_ops.conj(self._operator.trace())

    def _eigvals(self):
        found = self._operator.eigvals()
        return found if self._operator.is_self_adjoint else math_ops.conj(found)

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


class LinearOperatorInversion(_OfOne):
    """The inverse of an operator."""

    @_own_arguments
    def __init__(
        self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None
    ):
        self._operator, self._dtype = operator, operator.dtype
        for hint, given in (("is_non_singular", is_non_singular), ("is_square", is_square)):
            own = getattr(operator, hint)
            if own is False or given is False:
                raise ValueError(
                    f"Argument `{hint}` or argument `operator` must have supplied hint `{hint}` equal to `True` or `None`. "
                    f"Found `operator.{hint}`: {own}, `{hint}`: {given}."
                )
        _combined(operator, self._hints, "inverse")

    def _default_name(self):
        return self._operator.name + "_inv"

    def _shape_tensor(self):
        return self._operator.shape_tensor()

    def _determinant(self):
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self):
        return -self._operator.log_abs_determinant()

    def _eigvals(self):
        return 1.0 / self._operator.eigvals()

    def _shape(self):
        return self._operator.shape

    def _to_dense(self):
        return self._operator.solve(self._eye())

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
        keep_operators(self, operators)
        hints_of_all(self, "composition", ("is_non_singular",))
        n = len(self._operators)
        mirrored = n % 2 == 0 and all(
            _adjoint_pair(a, b) for a, b in zip(self._operators[: n // 2], reversed(self._operators[n // 2 :]))
        )
        determined = "The composition was determined"
        wrong = "The user provided an incorrect `False` hint."
        if mirrored or (n == 1 and self._operators[0].is_self_adjoint):
            if is_self_adjoint is False:
                raise ValueError(f"{determined} to be self-adjoint but user provided incorrect `False` hint.")
            self._hints["is_self_adjoint"] = True
        if mirrored:  # A A^H
            if is_square is False:
                raise ValueError(f"{determined} have the form A @ A.H, hence it must be square. {wrong}")
            self._hints["is_square"] = True
        if mirrored and self._hints["is_non_singular"]:
            if is_positive_definite is False:
                raise ValueError(
                    f"{determined} to be non-singular and have the form A @ A.H, hence it must be positive-definite. {wrong}"
                )
            self._hints["is_positive_definite"] = True

    _matrix_ranks = {"operators": 2}
    operators = property(lambda self: self._operators)

    def _default_name(self):
        return "_o_".join(op.name for op in self._operators)

    def _shape_tensor(self):
        known = self.shape
        if known.is_fully_defined():
            return convert_to_tensor(known.as_list(), dtypes.int32)
        lead = functools.reduce(array_ops.broadcast_dynamic_shape, (op.batch_shape_tensor() for op in self._operators))
        first, last = self._operators[0], self._operators[-1]
        return array_ops.concat([lead, [first.range_dimension_tensor(), last.domain_dimension_tensor()]], 0)

    def _determinant(self):
        return functools.reduce(lambda a, b: a * b, (op.determinant() for op in self._operators))

    def _log_abs_determinant(self):
        return functools.reduce(lambda a, b: a + b, (op.log_abs_determinant() for op in self._operators))

    def _assert_non_singular(self):
        if all(op.is_square for op in self._operators):
            checks = [op.assert_non_singular() for op in self._operators]
            return group(*[c for c in checks if c is not None])
        return super()._assert_non_singular()

    def _cholesky(self):
        a = self._operators[0]
        if not (
            isinstance(a, LinearOperatorLowerTriangular)
            and len(self._operators) == 2
            and _adjoint_pair(*self._operators)
        ):
            return super()._cholesky()
        if a.is_positive_definite:
            return a
        # Columns turned so that the diagonal is positive: L D (L D)^H is L L^H.
        signs = math_ops.sign(a.diag_part())[..., None, :]
        return LinearOperatorLowerTriangular(
            a.tril / signs, is_non_singular=a.is_non_singular, is_self_adjoint=a.is_self_adjoint, is_square=True
        )

    def _shape(self):
        for a, b in zip(self._operators, self._operators[1:]):
            _compatible(a._size(-1), b._size(-2))
        lead = functools.reduce(array_ops.broadcast_static_shape, (op.batch_shape for op in self._operators))
        return lead.concatenate([self._operators[0]._size(-2), self._operators[-1]._size(-1)])

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
