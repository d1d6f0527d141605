"""Sums of linear operators. tensorflow-probability."""


def add_operators(operators, operator_name=None, addition_tiers=None, name=None):
    """A list of as few operators as the sum needs: scaled identities stay, diagonals stay diagonal, all others become one matrix."""
    from weft import linalg
    from weft._src.framework.graph import name_scope

    if not isinstance(operators, (list, tuple)):
        raise TypeError(f"operators must be a list or tuple, found {type(operators)}")
    if addition_tiers is not None:
        raise NotImplementedError("add_operators(addition_tiers=...)")
    operators = list(operators)
    for op in operators:
        if (op.range_dimension, op.domain_dimension) != (operators[0].range_dimension, operators[0].domain_dimension):
            raise ValueError("operators must have the same range_dimension and domain_dimension")
    if len(operators) < 2:
        return operators
    identities = (linalg.LinearOperatorIdentity, linalg.LinearOperatorScaledIdentity)
    hints = {
        "is_non_singular": None,
        "is_self_adjoint": all(op.is_self_adjoint for op in operators) or None,
        "is_positive_definite": all(op.is_positive_definite for op in operators) or None,
    }
    with name_scope(name or "add_operators"):
        if all(isinstance(op, (*identities, linalg.LinearOperatorDiag)) for op in operators):
            total = operators[0].diag_part()
            for op in operators[1:]:
                total = total + op.diag_part()
            return [linalg.LinearOperatorDiag(total, name=operator_name or "Add", **hints)]
        triangular = all(
            isinstance(op, (*identities, linalg.LinearOperatorDiag, linalg.LinearOperatorLowerTriangular))
            for op in operators
        )
        total = operators[0].to_dense()
        for op in operators[1:]:
            total = op.add_to_tensor(total)
        kind = linalg.LinearOperatorLowerTriangular if triangular else linalg.LinearOperatorFullMatrix
        return [kind(total, name=operator_name or "Add", **hints)]
