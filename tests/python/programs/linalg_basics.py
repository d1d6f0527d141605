"""tf.linalg: matmul in its forms, norms, traces, determinants, inverses, solves, diagonals, bands, products."""
import tensorflow as tf

a = tf.constant([[4.0, 1.0], [2.0, 3.0]])
b = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(tf.linalg.matmul(a, b), tf.linalg.matmul(a, b, transpose_a=True), tf.linalg.matmul(a, b, adjoint_b=True))
print(tf.linalg.matvec(a, [1.0, 2.0]), tf.tensordot(a, b, 1), tf.tensordot(a, b, [[0], [1]]),
      tf.linalg.tensordot(a, b, axes=0).shape)
print(tf.linalg.det(a), tf.linalg.slogdet(a), tf.linalg.logdet(tf.constant([[2.0, 0.0], [0.0, 3.0]])),
      tf.linalg.trace(a))
print(tf.linalg.inv(a), tf.linalg.pinv(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).shape)
print(tf.linalg.solve(a, [[1.0], [2.0]]),
      tf.linalg.lstsq(tf.constant([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]]), tf.constant([[1.0], [2.0], [3.0]])))
print(tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 3.0]], [[2.0], [4.0]]),
      tf.linalg.cholesky([[4.0, 2.0], [2.0, 3.0]]))
print(tf.linalg.cholesky_solve(tf.linalg.cholesky([[4.0, 2.0], [2.0, 3.0]]), [[1.0], [2.0]]))
print(tf.norm(a), tf.norm(a, ord=1), tf.norm(a, axis=0), tf.norm(a, ord="euclidean", axis=1, keepdims=True),
      tf.linalg.norm(a, ord=float("inf")))
print(tf.linalg.diag([1, 2, 3]), tf.linalg.diag([1, 2], k=1), tf.linalg.diag_part(a),
      tf.linalg.diag_part(tf.reshape(tf.range(9), [3, 3]), k=-1))
print(tf.linalg.set_diag(a, [9.0, 8.0]), tf.linalg.band_part(tf.ones([3, 3]), 0, -1),
      tf.linalg.band_part(tf.ones([3, 3]), 1, 0), tf.linalg.eye(2))
print(tf.linalg.tensor_diag([1, 2]), tf.linalg.tensor_diag_part([[1, 2], [3, 4]]),
      tf.linalg.adjoint([[1 + 1j, 2], [3, 4]]), tf.linalg.matrix_transpose(b))
print(tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]), tf.linalg.expm(tf.zeros([2, 2])), tf.linalg.matrix_rank(b),
      tf.linalg.l2_normalize([3.0, 4.0]))
print(tf.linalg.global_norm([[3.0], [4.0]]), tf.linalg.normalize([3.0, 4.0]), tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]),
      tf.linalg.logm(tf.constant([[1 + 0j, 0], [0, 1]])))
print(tf.linalg.tridiagonal_solve(tf.constant([[1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 1.0, 1.0]]),
                                  tf.constant([1.0, 2.0, 3.0])))
print(tf.linalg.banded_triangular_solve(tf.constant([[2.0, 3.0], [0.0, 1.0]]), tf.constant([[2.0], [3.0]])),
      tf.linalg.lu(a))
print(tf.einsum("ij,jk->ik", a, b), tf.einsum("ii->i", a), tf.einsum("ij->ji", a),
      tf.einsum("bij,bjk->bik", a[None], b[None]), tf.einsum("...i,i->...", a, tf.constant([1.0, 1.0])))
print(tf.linalg.einsum("i,j->ij", tf.constant([1, 2]), tf.constant([3, 4])),
      tf.matmul(tf.ones([2, 2], tf.int32), [[1, 2], [3, 4]]), a @ b @ a)
for bad in (lambda: tf.linalg.inv([[1.0, 2.0], [2.0, 4.0]]), lambda: tf.linalg.det(tf.ones([2, 3])),
            lambda: tf.matmul(a, tf.ones([3, 2])), lambda: tf.matmul(a, [1.0, 2.0]), lambda: tf.einsum("ij,jk", a)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
with tf.GradientTape() as tape:
    tape.watch(a)
    y = tf.linalg.logdet(tf.matmul(a, a, transpose_b=True)) + tf.reduce_sum(tf.linalg.inv(a))
print(tape.gradient(y, a))
