"""tf.linalg."""

from types import SimpleNamespace as _Names

from weft._missing import missing
from weft.ops.array_ops import eye, matrix_transpose  # noqa: F401
from weft.ops.linalg_ops import (  # noqa: F401
    adjoint, band_part, banded_triangular_solve, cholesky, cholesky_solve, conjugate_gradient, cross, det, diag, diag_part, eig, eigh, eigh_tridiagonal, eigvals, eigvalsh,
    expm, inv, logdet, logm, lstsq, lu, lu_matrix_inverse, lu_reconstruct, lu_solve, matrix_rank, norm, normalize, pinv, qr, set_diag, slogdet, solve, sqrtm, svd,
    tensor_diag, tensor_diag_part, triangular_solve, tridiagonal_matmul, tridiagonal_solve)
from weft.ops.math_ops import einsum, global_norm, matmul, matvec, tensordot, trace  # noqa: F401
from weft.ops.norm_ops import l2_normalize  # noqa: F401

experimental = _Names(conjugate_gradient=conjugate_gradient)
del conjugate_gradient

__getattr__ = missing("tf.linalg")
