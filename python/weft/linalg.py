"""tf.linalg."""

from types import SimpleNamespace as _Names

from weft._src.namespace import missing
from weft._src.ops.array_ops import eye, matrix_transpose  # noqa: F401
from weft._src.ops.linalg_ops import (  # noqa: F401
    adjoint,
    band_part,
    banded_triangular_solve,
    cholesky,
    cholesky_solve,
    cross,
    det,
    diag,
    diag_part,
    eig,
    eigh,
    eigh_tridiagonal,
    eigvals,
    eigvalsh,
    expm,
    inv,
    logdet,
    logm,
    lstsq,
    lu,
    lu_matrix_inverse,
    lu_reconstruct,
    lu_solve,
    matrix_rank,
    norm,
    normalize,
    pinv,
    qr,
    set_diag,
    slogdet,
    solve,
    sqrtm,
    svd,
    tensor_diag,
    tensor_diag_part,
    triangular_solve,
    tridiagonal_matmul,
    tridiagonal_solve,
)
from weft._src.ops.math_ops import einsum, global_norm, matmul, matvec, tensordot, trace  # noqa: F401
from weft._src.ops.norm_ops import l2_normalize  # noqa: F401

from weft._src.ops.conjugate_gradient import conjugate_gradient as _conjugate_gradient
from weft._src.ops import linear_operator_dispatch  # noqa: F401
from weft._src.ops.linear_operator import LinearOperator  # noqa: F401
from weft._src.ops.linear_operator_blocks import LinearOperatorBlockDiag, LinearOperatorBlockLowerTriangular  # noqa: F401
from weft._src.ops.linear_operator_composed import (  # noqa: F401
    LinearOperatorAdjoint,
    LinearOperatorComposition,
    LinearOperatorInversion,
)
from weft._src.ops.linear_operator_identities import (  # noqa: F401
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from weft._src.ops.linear_operator_kinds import (  # noqa: F401
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular,
)
from weft._src.ops.linear_operator_structured import (  # noqa: F401
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
    LinearOperatorHouseholder,
    LinearOperatorKronecker,
    LinearOperatorLowRankUpdate,
    LinearOperatorPermutation,
    LinearOperatorToeplitz,
    LinearOperatorTridiag,
)

experimental = _Names(conjugate_gradient=_conjugate_gradient)

__getattr__ = missing("tf.linalg")
