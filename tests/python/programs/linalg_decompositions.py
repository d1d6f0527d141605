"""SVD, QR, eigenvalues, with signs made plain; linear operators."""
import tensorflow as tf

m = tf.constant([[3.0, 1.0, 1.0], [-1.0, 3.0, 1.0]])
s, u, v = tf.linalg.svd(m)
print(s, u.shape, v.shape)
print(tf.linalg.svd(m, compute_uv=False), tf.linalg.svd(m, full_matrices=True)[2].shape)
rebuilt = u @ tf.linalg.diag(s) @ tf.transpose(v)
print(tf.round(rebuilt * 1000) / 1000)
print(tf.abs(u))
q, r = tf.linalg.qr(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
print(tf.abs(r), tf.round((q @ r) * 1000) / 1000, q.shape, tf.linalg.qr(tf.ones([3, 2]), full_matrices=True)[0].shape)
sym = tf.constant([[2.0, 1.0], [1.0, 2.0]])
e, vec = tf.linalg.eigh(sym)
print(e, tf.abs(vec), tf.linalg.eigvalsh(sym))
w = tf.linalg.eigvals(tf.constant([[0.0, 1.0], [-1.0, 0.0]]))
print(sorted(w.numpy().imag.round(4).tolist()), w.dtype)
ev, evec = tf.linalg.eig(tf.constant([[2.0, 0.0], [0.0, 3.0]]))
print(ev, evec.dtype)
batch = tf.stack([sym, 2.0 * sym])
print(tf.linalg.eigh(batch)[0], tf.linalg.svd(batch)[0], tf.linalg.cholesky(batch), tf.linalg.inv(batch),
      tf.linalg.det(batch))
with tf.GradientTape() as tape:
    tape.watch(sym)
    y = tf.reduce_sum(tf.linalg.eigvalsh(sym) ** 2)
print(tape.gradient(y, sym))
with tf.GradientTape() as tape:
    tape.watch(m)
    y = tf.reduce_sum(tf.linalg.svd(m, compute_uv=False))
print(tape.gradient(y, m))
op = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
print(op.shape, op.determinant(), op.matvec([1.0, 1.0]), op.to_dense(), op.trace(), op.solve([[1.0], [2.0]]))
d = tf.linalg.LinearOperatorDiag([1.0, 2.0])
print(d.to_dense(), d.inverse().to_dense(), d.matmul([[1.0], [1.0]]), d.log_abs_determinant(), (d @ op).to_dense())
i = tf.linalg.LinearOperatorIdentity(2)
print(i.to_dense(), tf.linalg.LinearOperatorScaledIdentity(2, 3.0).matvec([1.0, 2.0]),
      tf.linalg.LinearOperatorLowerTriangular([[1.0, 9.0], [2.0, 3.0]]).to_dense())
k = tf.linalg.LinearOperatorKronecker([d, i])
print(k.to_dense(), tf.linalg.LinearOperatorBlockDiag([d, i]).to_dense(),
      tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]).to_dense())
print(tf.linalg.experimental.conjugate_gradient(tf.linalg.LinearOperatorFullMatrix([[4.0, 1.0], [1.0, 3.0]],
    is_self_adjoint=True, is_positive_definite=True), tf.constant([1.0, 2.0])).x)
