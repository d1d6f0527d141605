"""Linear operators: kinds, products, solves, determinants, composition, adjoints, hints, errors."""
import tensorflow as tf

full = tf.linalg.LinearOperatorFullMatrix([[2.0, 1.0], [1.0, 3.0]], is_self_adjoint=True, is_positive_definite=True)
diag = tf.linalg.LinearOperatorDiag([1.0, 4.0])
tri = tf.linalg.LinearOperatorLowerTriangular([[2.0, 0.0], [1.0, 3.0]])
eye = tf.linalg.LinearOperatorIdentity(num_rows=2)
scaled = tf.linalg.LinearOperatorScaledIdentity(num_rows=2, multiplier=5.0)
zeros = tf.linalg.LinearOperatorZeros(num_rows=2)
x = tf.constant([[1.0], [2.0]])
for op in (full, diag, tri, eye, scaled):
    print(type(op).__name__, op.shape, op.dtype.name, op.is_square, op.is_non_singular)
    print(op.to_dense().numpy().tolist(), op.matmul(x).numpy().ravel(), op.matvec([1.0, 1.0]).numpy())
    print(op.solve(x).numpy().ravel(), op.determinant().numpy(), op.log_abs_determinant().numpy(), op.trace().numpy())
    print(op.diag_part().numpy(), op.adjoint().to_dense().numpy().tolist(), op.matmul(x, adjoint=True).numpy().ravel())
print(zeros.to_dense().numpy(), zeros.matmul(x).numpy().ravel())
composed = tf.linalg.LinearOperatorComposition([full, diag])
print(composed.to_dense().numpy(), composed.solve(x).numpy().ravel(), composed.determinant().numpy())
block = tf.linalg.LinearOperatorBlockDiag([full, diag])
print(block.to_dense().numpy(), block.shape, block.determinant().numpy())
kron = tf.linalg.LinearOperatorKronecker([diag, eye])
print(kron.to_dense().numpy())
update = tf.linalg.LinearOperatorLowRankUpdate(diag, u=[[1.0], [1.0]])
print(update.to_dense().numpy(), update.solve(x).numpy().ravel(), update.determinant().numpy())
print(full.inverse().to_dense().numpy(), full.cholesky().to_dense().numpy(), (full @ diag).to_dense().numpy(),
      full.eigvals().numpy())
print(diag.add_to_tensor(tf.ones([2, 2])).numpy(), full.cond().numpy(), full.domain_dimension, full.range_dimension,
      full.tensor_rank)
batch = tf.linalg.LinearOperatorFullMatrix(tf.stack([tf.eye(2), 2.0 * tf.eye(2)]))
print(batch.batch_shape, batch.determinant().numpy(), batch.solve(tf.ones([2, 2, 1])).numpy()[..., 0])
v = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.linalg.LinearOperatorDiag(v).solve(x))
print(tape.gradient(y, v))
circulant = tf.linalg.LinearOperatorCirculant(tf.constant([4.0 + 0j, 2.0, 2.0]))
print(circulant.to_dense().numpy().real.round(4), circulant.shape)
toeplitz = tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0])
print(toeplitz.to_dense().numpy(), toeplitz.matvec([1.0, 1.0]).numpy())
for bad in (lambda: full.matmul(tf.ones([3, 1])), lambda: tf.linalg.LinearOperatorFullMatrix([1.0]),
            lambda: tf.linalg.LinearOperatorDiag([1.0], is_square=False)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
