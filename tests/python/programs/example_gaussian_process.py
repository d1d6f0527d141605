"""Gaussian process regression: kernels, Cholesky, posterior, marginal likelihood and its gradient."""
import tensorflow as tf

x = tf.constant([[-2.0], [-1.0], [0.0], [1.5]], tf.float64)
y = tf.sin(x)
amplitude = tf.Variable(1.0, dtype=tf.float64)
length = tf.Variable(1.0, dtype=tf.float64)


def kernel(a, b):
    d = tf.reduce_sum((a[:, None] - b[None]) ** 2, axis=-1)
    return amplitude**2 * tf.exp(-0.5 * d / length**2)


def negative_log_likelihood():
    K = kernel(x, x) + 0.01 * tf.eye(4, dtype=tf.float64)
    L = tf.linalg.cholesky(K)
    alpha = tf.linalg.cholesky_solve(L, y)
    return 0.5 * tf.squeeze(tf.matmul(y, alpha, transpose_a=True)) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(L)))


print(kernel(x, x))
for i in range(20):
    with tf.GradientTape() as tape:
        loss = negative_log_likelihood()
    grads = tape.gradient(loss, [amplitude, length])
    for v, g in zip([amplitude, length], grads):
        v.assign_sub(0.05 * g)
    if i % 5 == 0:
        print(i, loss.numpy(), [g.numpy() for g in grads])
print(amplitude.numpy(), length.numpy())
new = tf.constant([[-1.5], [0.5], [3.0]], tf.float64)
K = kernel(x, x) + 0.01 * tf.eye(4, dtype=tf.float64)
Ks = kernel(x, new)
mean = tf.matmul(Ks, tf.linalg.solve(K, y), transpose_a=True)
cov = kernel(new, new) - tf.matmul(Ks, tf.linalg.solve(K, Ks), transpose_a=True)
print(mean.numpy().ravel(), tf.sqrt(tf.linalg.diag_part(cov)).numpy())
print(tf.linalg.logdet(K).numpy(), tf.linalg.slogdet(K))
