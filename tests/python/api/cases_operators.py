"""Calls of tf.linalg.LinearOperator*: each line is run by TensorFlow (record_cases.py) and by weft (cases_test.py)."""

import numpy as np


def setup(tf):
    r = np.random.RandomState(3)
    L = tf.linalg
    full = L.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    diag, identity = L.LinearOperatorDiag([1.0, 2.0]), L.LinearOperatorIdentity(2)
    positive = L.LinearOperatorFullMatrix([[4.0, 1.0], [1.0, 3.0]], is_self_adjoint=True, is_positive_definite=True)
    solvable = [
        full,
        diag,
        identity,
        L.LinearOperatorScaledIdentity(2, 3.0),
        L.LinearOperatorLowerTriangular([[1.0, 9.0], [2.0, 3.0]]),
        L.LinearOperatorKronecker([diag, full]),
        L.LinearOperatorBlockDiag([diag, full]),
        L.LinearOperatorToeplitz([1.0, 2.0, 4.0], [1.0, 3.0, 5.0]),
        L.LinearOperatorTridiag([[1.0, 2.0, 0.0], [4.0, 5.0, 6.0], [0.0, 1.0, 2.0]]),
        L.LinearOperatorPermutation([2, 0, 1]),
        L.LinearOperatorHouseholder([1.0, 2.0, 2.0]),
        L.LinearOperatorLowRankUpdate(diag, [[1.0], [2.0]], [3.0]),
        L.LinearOperatorCirculant([4.0, 1.0, 2.0], input_output_dtype=tf.float32),
        L.LinearOperatorDiag(tf.constant(r.rand(2, 3).astype("f") + 1)),
        L.LinearOperatorFullMatrix(tf.constant(r.randn(2, 3, 3))),
        L.LinearOperatorComposition([full, diag]),
    ]
    others = [
        L.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=False),
        L.LinearOperatorFullMatrix(tf.constant(r.randn(3, 2))),
    ]
    return dict(L=L, F=full, D=diag, I=identity, P=positive, solvable=solvable, ops=solvable + others)


CASES = """
[op.to_dense() for op in ops]
[op.matmul(tf.ones([op.domain_dimension, 2], op.dtype)) for op in ops]
[op.matmul(tf.ones([op.range_dimension, 2], op.dtype), adjoint=True) for op in ops]
[op.matvec(tf.ones([op.domain_dimension], op.dtype)) for op in ops]
[op.solve(tf.ones([op.domain_dimension, 1], op.dtype)) for op in solvable]
[op.solvevec(tf.ones([op.domain_dimension], op.dtype), adjoint=True) for op in solvable]
[op.determinant() for op in solvable], [op.log_abs_determinant() for op in solvable], [op.trace() for op in solvable], [op.diag_part() for op in solvable]
[op.adjoint().to_dense() for op in ops], [op.inverse().to_dense() for op in solvable]
[str(op.shape) for op in ops], [str(op.batch_shape) for op in ops], [int(op.range_dimension) for op in ops], [op.shape_tensor() for op in ops], [op.tensor_rank for op in ops]
[op.add_to_tensor(tf.ones([op.range_dimension, op.domain_dimension], op.dtype)) for op in solvable if op.batch_shape.rank == 0]
(D @ F).to_dense(), (D @ D).to_dense(), (I @ F).to_dense(), F.matmul(D).to_dense(), D.cholesky().to_dense() if D.is_positive_definite else 0, (F @ F).solve([[1.0], [2.0]])
P.cholesky().to_dense(), P.eigvals(), P.cond(), P.inverse().to_dense()
P.assert_non_singular(), P.assert_positive_definite(), P.assert_self_adjoint()
L.experimental.conjugate_gradient(P, tf.constant([1.0, 2.0]))
F.cholesky()
L.LinearOperatorFullMatrix([[1.0, 2.0, 3.0]]).solve([[1.0]])
L.LinearOperatorFullMatrix([1.0, 2.0])
F.matmul([[1.0]])
"""
