"""Products and solutions of two linear operators: the simplest operator that there is for both kinds."""


def kind(name):
    """The class of operators of this name; looked up late, since all kinds are built on this file."""
    from weft import linalg

    return getattr(linalg, name)


def _is(operator, name):
    return isinstance(operator, kind(name))


def _is_square(a, b):
    if a.is_square and b.is_square:
        return True
    if a.is_square is False and b.is_square is False:
        rows, columns = a._size(-2), b._size(-1)
        return rows == columns if rows is not None and columns is not None else None
    return None if None in (a.is_square, b.is_square) else False


def _non_singular(a, b):
    if False in (a.is_non_singular, b.is_non_singular):
        return False
    return a.is_non_singular and b.is_non_singular


def _commuting(a, b):
    """The hints of the product of two operators of which the order does not matter."""
    adjoint = a.is_self_adjoint, b.is_self_adjoint
    definite = all((a.is_positive_definite, b.is_positive_definite, *adjoint))
    return {
        "is_non_singular": _non_singular(a, b),
        "is_self_adjoint": True if all(adjoint) else False if True in adjoint and False in adjoint else None,
        "is_positive_definite": True if definite else None,
        "is_square": True,
    }


def _composition(left, right, factors):
    square, hints = _is_square(left, right), {}
    if square:
        hints["is_non_singular"] = _non_singular(left, right)
    elif square is False:
        hints = dict.fromkeys(("is_non_singular", "is_self_adjoint", "is_positive_definite"), False)
    return kind("LinearOperatorComposition")(factors, is_square=square, **hints)


def _triangular(left, right, tril):
    hints = {**_commuting(left, right), "is_positive_definite": None}
    return kind("LinearOperatorLowerTriangular")(tril, **hints)


def _blocks(left, right, what, join):
    """The operator of the blocks' products, one by one."""
    if len(left.operators) != len(right.operators):
        raise ValueError(f"Can not efficiently {what} when number of blocks differ.")
    pairs = list(zip(left.operators, right.operators))
    for a, b in pairs:
        columns, rows = a._size(-1), b._size(-2)
        if columns is not None and rows is not None and columns != rows:
            raise ValueError(f"Blocks are incompatible. Expected `x` to have dimension {columns} but got {rows}.")
    return type(left)([join(a, b) for a, b in pairs], is_non_singular=_non_singular(left, right), is_square=True)


def _circulants(left, right):
    return hasattr(left, "spectrum") and hasattr(right, "spectrum") and isinstance(left, type(right))


def product(left, right):
    """left right"""
    if _is(left, "LinearOperatorIdentity"):
        return right
    if _is(right, "LinearOperatorIdentity"):
        return left
    for zeros in (left, right):
        if _is(zeros, "LinearOperatorZeros"):
            if not left.is_square or not right.is_square:
                raise ValueError(
                    "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported at this time."
                )
            return zeros
    scaled = [_is(op, "LinearOperatorScaledIdentity") for op in (left, right)]
    diagonal = [_is(op, "LinearOperatorDiag") for op in (left, right)]
    if all(scaled):
        hints = _commuting(left, right)
        return type(left)(left.domain_dimension_tensor(), left.multiplier * right.multiplier, **hints)
    if all(s or d for s, d in zip(scaled, diagonal)):
        a, b = (_factor(op) for op in (left, right))
        return kind("LinearOperatorDiag")(a * b, **_commuting(left, right))
    if diagonal[0] and _is(right, "LinearOperatorLowerTriangular"):
        return _triangular(left, right, left.diag[..., None] * right.to_dense())
    if diagonal[1] and _is(left, "LinearOperatorLowerTriangular"):
        return _triangular(left, right, left.to_dense() * right.diag[..., None, :])
    if _is(left, "LinearOperatorBlockDiag") and _is(right, "LinearOperatorBlockDiag"):
        return _blocks(left, right, "multiply two `LinearOperatorBlockDiag`s together", lambda a, b: a.matmul(b))
    if _circulants(left, right):
        return type(right)(left.spectrum * right.spectrum, **_commuting(left, right))
    return _composition(left, right, [left, right])


def solution(left, right):
    """The inverse of left, times right."""
    if _is(left, "LinearOperatorIdentity"):
        return right
    if _is(left, "LinearOperatorInversion"):
        return left.operator.matmul(right)
    if _is(right, "LinearOperatorIdentity"):
        return left.inverse()
    scaled = [_is(op, "LinearOperatorScaledIdentity") for op in (left, right)]
    diagonal = [_is(op, "LinearOperatorDiag") for op in (left, right)]
    if all(scaled):
        hints = _commuting(left, right)
        return type(left)(left.domain_dimension_tensor(), right.multiplier / left.multiplier, **hints)
    if all(s or d for s, d in zip(scaled, diagonal)):
        a, b = (_factor(op) for op in (left, right))
        return kind("LinearOperatorDiag")(b / a, **_commuting(left, right))
    if diagonal[0] and _is(right, "LinearOperatorLowerTriangular"):
        return _triangular(left, right, right.to_dense() / left.diag[..., None])
    if _is(left, "LinearOperatorBlockDiag") and _is(right, "LinearOperatorBlockDiag"):
        return _blocks(left, right, "solve `LinearOperatorBlockDiag`", lambda a, b: a.solve(b))
    if _circulants(left, right):
        return type(right)(right.spectrum / left.spectrum, **_commuting(left, right))
    return _composition(left, right, [kind("LinearOperatorInversion")(left), right])


def _factor(operator):
    return operator.multiplier[..., None] if _is(operator, "LinearOperatorScaledIdentity") else operator.diag
