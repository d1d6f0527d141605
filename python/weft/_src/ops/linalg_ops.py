"""tf.linalg: decompositions, solvers, norms, functions of matrices."""

import numpy as np

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.tensor import Tensor
from weft._src.ops import array_ops, math_ops
from weft._src.ops._direct import define, scope
from weft._src.ops.array_ops import matrix_transpose

define(
    globals(),
    """
band_part MatrixBandPart input, num_lower, num_upper
cholesky input
cross a, b
det MatrixDeterminant input
inv MatrixInverse input, adjoint=False
logm MatrixLogarithm input
lu input, output_idx_type=dtypes.int32
qr input, full_matrices=False
slogdet LogMatrixDeterminant input
solve MatrixSolve matrix, rhs, adjoint=False
sqrtm MatrixSquareRoot input
tensor_diag Diag diagonal
tensor_diag_part DiagPart input
triangular_solve MatrixTriangularSolve matrix, rhs, lower=True, adjoint=False
banded_triangular_solve bands>matrix, rhs, lower=True, adjoint=False
""",
)


# ---- diagonals --------------------------------------------------------------------------------------------


def _padding(tensor, value):
    return bool(value) if tensor.dtype is dtypes.bool and not isinstance(value, Tensor) else value


@dispatchable
def diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Matrices with these diagonals."""
    diagonal = _weft.convert(diagonal)
    return raw.MatrixDiagV3(
        diagonal=diagonal,
        k=k,
        num_rows=num_rows,
        num_cols=num_cols,
        padding_value=_padding(diagonal, padding_value),
        align=align,
        name=name,
    )


@dispatchable
def diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """Diagonals of matrices."""
    input = _weft.convert(input)
    return raw.MatrixDiagPartV3(input=input, k=k, padding_value=_padding(input, padding_value), align=align, name=name)


@dispatchable
def set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """Matrices with other diagonals."""
    return raw.MatrixSetDiagV3(input=input, diagonal=diagonal, k=k, align=align, name=name)


# ---- decompositions ---------------------------------------------------------------------------------------


def _complex_of(tensor):
    kinds = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}
    return kinds.get(tensor.dtype, tensor.dtype)


@dispatchable
def eig(tensor, name=None):
    """Eigenvalues and eigenvectors, complex."""
    tensor = convert_to_tensor(tensor)
    made = raw.Eig(input=tensor, Tout=_complex_of(tensor), compute_v=True, name=name)
    return made.e, made.v


@dispatchable
def eigvals(tensor, name=None):
    """Eigenvalues, complex."""
    tensor = convert_to_tensor(tensor)
    return raw.Eig(input=tensor, Tout=_complex_of(tensor), compute_v=False, name=name).e


@dispatchable
def eigh(tensor, name=None):
    """Eigenvalues and eigenvectors of matrices that are their own adjoints."""
    made = raw.SelfAdjointEigV2(input=tensor, compute_v=True, name=name)
    return made.e, made.v


@dispatchable
def eigvalsh(tensor, name=None):
    """Eigenvalues of matrices that are their own adjoints."""
    return raw.SelfAdjointEigV2(input=tensor, compute_v=False, name=name).e


@dispatchable
def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """Singular values, and the two matrices beside them."""
    made = raw.Svd(input=tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    values = math_ops.real(made.s)
    return (values, made.u, made.v) if compute_uv else values


@dispatchable
def eigh_tridiagonal(alpha, beta, eigvals_only=True, select="a", select_range=None, tol=None, name=None):
    """Eigenvalues (and vectors) of matrices given by their diagonal and the one beside it."""
    with scope(name, "eigh_tridiagonal"):
        alpha, beta = convert_to_tensor(alpha, name="alpha"), convert_to_tensor(beta, name="beta")
        matrix = diag(alpha) + diag(beta, k=-1) + diag(math_ops.conj(beta), k=1)
        if select not in ("a", "v", "i"):
            raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
        if select != "a" and (select_range is None or len(select_range) != 2):
            raise ValueError("select_range must be given, with two numbers, for select='v' and 'i'")
        values, vectors = eigh(matrix)
        if select == "i":
            low, high = select_range
            values, vectors = values[..., low : high + 1], vectors[..., low : high + 1]
        elif select == "v":
            low, high = select_range
            chosen = math_ops.logical_and(values > low, values <= high)
            values, vectors = array_ops.boolean_mask(values, chosen), array_ops.boolean_mask(vectors, chosen, axis=1)
        return values if eigvals_only else (values, vectors)


# ---- solvers ----------------------------------------------------------------------------------------------


@dispatchable
def cholesky_solve(chol, rhs, name=None):
    """x of A x = rhs, given Cholesky's factor of A."""
    with scope(name, "cholesky_solve"):
        half = raw.MatrixTriangularSolve(matrix=chol, rhs=rhs, lower=True, adjoint=False)
        return raw.MatrixTriangularSolve(matrix=chol, rhs=half, lower=True, adjoint=True)


@dispatchable
def lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """x for which A x is nearest to rhs."""
    with scope(name, "matrix_solve_ls"):
        matrix = convert_to_tensor(matrix, name="matrix")
        rhs = convert_to_tensor(rhs, matrix.dtype, name="rhs")
        rows, cols = matrix.shape[-2], matrix.shape[-1]
        if not fast or matrix.dtype.is_complex or rows is None or cols is None:
            return raw.MatrixSolveLs(
                matrix=matrix, rhs=rhs, l2_regularizer=convert_to_tensor(l2_regularizer, dtypes.float64), fast=fast
            )
        tall = rows >= cols
        gram = math_ops.matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
        if isinstance(l2_regularizer, Tensor) or l2_regularizer != 0:
            small = min(rows, cols)
            gram = gram + convert_to_tensor(l2_regularizer, matrix.dtype) * array_ops.eye(small, dtype=matrix.dtype)
        factor = raw.Cholesky(input=gram)
        if tall:
            return cholesky_solve(factor, math_ops.matmul(matrix, rhs, adjoint_a=True))
        return math_ops.matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


@dispatchable
def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """x of A x = rhs, given what lu(A) gave."""
    with scope(name, "lu_solve"):
        lower_upper, perm, rhs = (
            convert_to_tensor(lower_upper),
            convert_to_tensor(perm, dtype_hint=dtypes.int32),
            convert_to_tensor(rhs),
        )
        batch = perm.shape.rank - 1
        if rhs.shape.rank == 2 and batch == 0:
            ordered = array_ops.gather(rhs, perm, axis=-2)
        else:
            lead = array_ops.broadcast_dynamic_shape(array_ops.shape(rhs)[:-2], array_ops.shape(perm)[:-1])
            rhs = array_ops.broadcast_to(rhs, array_ops.concat([lead, array_ops.shape(rhs)[-2:]], 0))
            perm = array_ops.broadcast_to(perm, array_ops.concat([lead, array_ops.shape(perm)[-1:]], 0))
            ordered = array_ops.gather(rhs, perm, batch_dims=perm.shape.rank - 1)
        lower = _unit_lower(lower_upper)
        return raw.MatrixTriangularSolve(
            matrix=lower_upper, rhs=raw.MatrixTriangularSolve(matrix=lower, rhs=ordered, lower=True), lower=False
        )


def _unit_lower(lower_upper):
    lower = raw.MatrixBandPart(input=lower_upper, num_lower=-1, num_upper=0)
    return set_diag(lower, array_ops.ones(array_ops.shape(lower_upper)[:-1], lower_upper.dtype))


@dispatchable
def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """The matrix that lu was given."""
    with scope(name, "lu_reconstruct"):
        lower_upper, perm = convert_to_tensor(lower_upper), convert_to_tensor(perm, dtype_hint=dtypes.int32)
        product = math_ops.matmul(
            _unit_lower(lower_upper), raw.MatrixBandPart(input=lower_upper, num_lower=0, num_upper=-1)
        )
        if perm.shape.rank == 1:
            return array_ops.gather(product, array_ops.invert_permutation(perm))
        return array_ops.gather(product, array_ops.argsort(perm), batch_dims=perm.shape.rank - 1)


@dispatchable
def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """The inverse of the matrix that lu was given."""
    with scope(name, "lu_matrix_inverse"):
        lower_upper = convert_to_tensor(lower_upper)
        sizes = array_ops.shape(lower_upper)
        return lu_solve(
            lower_upper, perm, array_ops.eye(sizes[-1], batch_shape=sizes[:-2], dtype=lower_upper.dtype), validate_args
        )


def _diagonals(diagonals, form):
    """The three diagonals [..., 3, n]: above (its last unused), main, below (its first unused)."""
    if form == "compact":
        return convert_to_tensor(diagonals)
    if form == "matrix":
        return diag_part(convert_to_tensor(diagonals), k=(-1, 1), align="LEFT_RIGHT")
    if form == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        main = convert_to_tensor(diagonals[1])
        above, below = (convert_to_tensor(d, dtype_hint=main.dtype) for d in (diagonals[0], diagonals[2]))
        zero = [[0, 0]] * (main.shape.rank - 1)
        if above.shape[-1] == main.shape[-1] - 1:
            above = array_ops.pad(above, zero + [[0, 1]])
        if below.shape[-1] == main.shape[-1] - 1:
            below = array_ops.pad(below, zero + [[1, 0]])
        return array_ops.stack([above, main, below], axis=-2)
    raise ValueError(f"Unrecognized diagonals_format: {form}")


@dispatchable
def tridiagonal_solve(
    diagonals,
    rhs,
    diagonals_format="compact",
    transpose_rhs=False,
    conjugate_rhs=False,
    name=None,
    partial_pivoting=True,
    perturb_singular=False,
):
    """x of A x = rhs for matrices with three diagonals."""
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is True.")
    with scope(name, "tridiagonal_solve"):
        three = _diagonals(diagonals, diagonals_format)
        rhs = convert_to_tensor(rhs, three.dtype)
        vector = rhs.shape.rank == three.shape.rank - 1
        if vector:
            x = array_ops.expand_dims(math_ops.conj(rhs) if conjugate_rhs else rhs, -1)
        else:
            x = (
                matrix_transpose(rhs, conjugate=conjugate_rhs)
                if transpose_rhs
                else math_ops.conj(rhs)
                if conjugate_rhs
                else rhs
            )
        out = raw.TridiagonalSolve(
            diagonals=three, rhs=x, partial_pivoting=partial_pivoting, perturb_singular=perturb_singular
        )
        if vector:
            return array_ops.squeeze(out, [-1])
        return matrix_transpose(out) if transpose_rhs else out


@dispatchable
def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """A rhs for matrices with three diagonals."""
    three = _diagonals(diagonals, diagonals_format)
    above, main, below = (three[..., i : i + 1, :] for i in range(3))
    return raw.TridiagonalMatMul(superdiag=above, maindiag=main, subdiag=below, rhs=rhs, name=name)


# ---- norms and numbers of matrices ------------------------------------------------------------------------


@dispatchable
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    """A norm of vectors or matrices."""
    keepdims = bool(keepdims)
    matrix = isinstance(axis, (tuple, list)) and len(axis) == 2
    if isinstance(axis, (tuple, list)) and (len(axis) not in (1, 2) or len(set(axis)) != len(axis)):
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {tuple(axis)}")
    if matrix:
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {ord}")
    else:
        if ord not in ("euclidean", 1, 2, np.inf) and (isinstance(ord, str) or ord <= 0):
            raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
        axis = axis[0] if isinstance(axis, (tuple, list)) else axis
    with scope(name, "norm"):
        tensor = convert_to_tensor(tensor)
        if matrix:
            axis = [a % tensor.shape.rank for a in axis]
        if ord in ("fro", "euclidean", 2) and not (matrix and ord == 2):
            out = math_ops.sqrt(math_ops.reduce_sum(tensor * math_ops.conj(tensor), axis, keepdims=True))
        elif matrix and ord == 2:
            order = [i for i in range(tensor.shape.rank) if i not in axis] + list(axis)
            values = svd(array_ops.transpose(tensor, order), compute_uv=False)
            out = math_ops.reduce_max(values, -1, keepdims=True)
            out = array_ops.expand_dims(out, -1)
            back = sorted(range(len(order)), key=order.__getitem__)
            out = array_ops.transpose(out, back)
        else:
            size = math_ops.abs(tensor)
            if ord == 1:
                out = math_ops.reduce_sum(size, axis[0] if matrix else axis, keepdims=True)
                out = math_ops.reduce_max(out, axis[-1], keepdims=True) if matrix else out
            elif ord == np.inf:
                out = math_ops.reduce_sum(size, axis[1], keepdims=True) if matrix else size
                out = math_ops.reduce_max(out, axis[0] if matrix else axis, keepdims=True)
            else:
                out = math_ops.pow(math_ops.reduce_sum(math_ops.pow(size, ord), axis, keepdims=True), 1.0 / ord)
        if not keepdims:
            out = array_ops.squeeze(out, axis)
        return out


@dispatchable
def normalize(tensor, ord="euclidean", axis=None, name=None):
    """(tensor / norm, norm)."""
    with scope(name, "normalize"):
        tensor = convert_to_tensor(tensor)
        size = math_ops.cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / size, size


@dispatchable
def adjoint(matrix, name=None):
    """Transposed, and conjugate."""
    with scope(name, "adjoint"):
        return matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)


@dispatchable
def logdet(matrix, name=None):
    """The logarithm of the determinant of positive definite matrices."""
    with scope(name, "logdet"):
        factor = raw.Cholesky(input=matrix)
        return 2.0 * math_ops.reduce_sum(math_ops.log(math_ops.real(raw.MatrixDiagPart(input=factor))), axis=[-1])


def _eps(dtype):
    return float(np.finfo(dtype.real_dtype.as_numpy_dtype).eps)


def _floats_only(a):
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")


def _widest(a, dtype):
    """The greater of the two sizes of matrices."""
    m, n = a.shape[-2:]
    return (
        max(m, n)
        if m is not None and n is not None
        else math_ops.cast(math_ops.reduce_max(array_ops.shape(a)[-2:]), dtype)
    )


@dispatchable
def matrix_rank(a, tol=None, validate_args=False, name=None):
    """How many singular values are not zero."""
    with scope(name, "matrix_rank"):
        a = convert_to_tensor(a, dtype_hint=dtypes.float32)
        _floats_only(a)
        values = svd(a, compute_uv=False)
        if tol is None:
            tol = _eps(a.dtype) * _widest(a, values.dtype) * math_ops.reduce_max(values, -1, keepdims=True)
        return math_ops.reduce_sum(math_ops.cast(values > tol, dtypes.int32), axis=-1)


@dispatchable
def pinv(a, rcond=None, validate_args=False, name=None):
    """Moore and Penrose's inverse."""
    with scope(name, "pinv"):
        a = convert_to_tensor(a, name="a")
        _floats_only(a)
        if rcond is None:
            rcond = 10.0 * _widest(a, a.dtype.real_dtype) * _eps(a.dtype)
        values, left, right = svd(a, full_matrices=False, compute_uv=True)
        rcond = convert_to_tensor(rcond, values.dtype)
        rcond = array_ops.expand_dims(rcond, -1) if rcond.shape.rank else rcond
        cutoff = rcond * math_ops.reduce_max(values, -1, keepdims=True)
        values = array_ops.where(values > cutoff, values, convert_to_tensor(np.inf, values.dtype))
        return math_ops.matmul(right / math_ops.cast(array_ops.expand_dims(values, -2), a.dtype), left, adjoint_b=True)


# Padé's approximants of exp: coefficients, and the norms up to which each is good enough.
_PADE = {
    3: [120.0, 60.0, 12.0, 1.0],
    5: [30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0],
    7: [17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0],
    13: [
        64764752532480000.0,
        32382376266240000.0,
        7771770303897600.0,
        1187353796428800.0,
        129060195264000.0,
        10559470521600.0,
        670442572800.0,
        33522128640.0,
        1323241920.0,
        40840800.0,
        960960.0,
        16380.0,
        182.0,
        1.0,
    ],
}


@dispatchable
def expm(input, name=None):
    """The exponential of matrices, by scaling, an approximant and squaring."""
    with scope(name, "matrix_exponential"):
        a = convert_to_tensor(input, name="matrix")
        if a.shape.rank is not None and a.shape.rank < 2:
            raise ValueError(f"`input` must be a matrix or a stack of them, not of shape {a.shape}")
        single = a.dtype.real_dtype is not dtypes.float64
        order, limit = (7, 3.925724783138660) if single else (13, 5.371920351148152)
        size = math_ops.reduce_max(math_ops.reduce_sum(math_ops.abs(a), axis=-2), axis=-1)
        halvings = math_ops.maximum(
            math_ops.cast(math_ops.floor(math_ops.log(size / limit) / np.log(2.0)), dtypes.int32), 0
        )
        halvings = array_ops.where(size > 0, halvings, array_ops.zeros_like(halvings))
        scale = math_ops.pow(convert_to_tensor(2.0, a.dtype.real_dtype), math_ops.cast(halvings, a.dtype.real_dtype))
        x = a / math_ops.cast(array_ops.reshape(scale, array_ops.concat([array_ops.shape(scale), [1, 1]], 0)), a.dtype)
        identity = array_ops.eye(
            a.shape[-1] if a.shape[-1] is not None else array_ops.shape(a)[-1], dtype=a.dtype
        ) + array_ops.zeros_like(x)
        square = math_ops.matmul(x, x)
        even = odd = None
        power = identity
        for i, c in enumerate(_PADE[order]):
            c = convert_to_tensor(c, a.dtype)
            if i % 2 == 0:
                even = c * power if even is None else even + c * power
            else:
                odd = c * power if odd is None else odd + c * power
                power = math_ops.matmul(power, square) if i < order else power
        odd = math_ops.matmul(x, odd)
        out = raw.MatrixSolve(matrix=even - odd, rhs=even + odd)
        return _squared(out, halvings)


def _squared(out, times):
    """Each matrix of a stack squared so many times."""
    most = math_ops.reduce_max(times)
    wide = array_ops.reshape(times, array_ops.concat([array_ops.shape(times), [1, 1]], 0))

    def step(i, value):
        return i + 1, array_ops.where(i < wide, math_ops.matmul(value, value), value)

    if not _weft.in_graph():
        for i in range(int(constant_value(most))):
            _, out = step(i, out)
        return out
    from weft._src.function.control_flow import while_loop

    return while_loop(lambda i, value: i < most, step, [convert_to_tensor(0), out])[1]
