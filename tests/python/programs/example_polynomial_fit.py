"""Least squares in three ways: normal equations, lstsq, gradient descent; all in float64."""
import tensorflow as tf

x = tf.linspace(tf.constant(-1.0, tf.float64), 1.0, 21)
y = 1.0 + 2.0 * x - 3.0 * x**2 + 0.1 * tf.sin(20.0 * x)
X = tf.stack([x**i for i in range(3)], axis=1)
print(X.shape, X.dtype)
normal = tf.linalg.solve(tf.transpose(X) @ X, tf.transpose(X) @ y[:, None])
print("normal equations", normal.numpy().ravel())
print("lstsq", tf.linalg.lstsq(X, y[:, None]).numpy().ravel())
q, r = tf.linalg.qr(X)
print("qr", tf.linalg.triangular_solve(r, tf.transpose(q) @ y[:, None], lower=False).numpy().ravel())
w = tf.Variable(tf.zeros([3], tf.float64))
for i in range(400):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.linalg.matvec(X, w) - y) ** 2)
    w.assign_sub(0.5 * tape.gradient(loss, w))
print("gradient", w.numpy().round(3), round(float(loss), 5))
chol = tf.linalg.cholesky(tf.transpose(X) @ X)
print("cholesky", tf.linalg.cholesky_solve(chol, tf.transpose(X) @ y[:, None]).numpy().ravel())
residual = y - tf.linalg.matvec(X, normal[:, 0])
print("residual", tf.norm(residual).numpy(), tf.reduce_max(tf.abs(residual)).numpy())
print("orthogonal", tf.reduce_max(tf.abs(tf.linalg.matvec(X, residual, transpose_a=True))).numpy() < 1e-10)
