"""PageRank by power iteration on dense and sparse matrices."""
import tensorflow as tf

links = {0: [1, 2], 1: [2], 2: [0], 3: [0, 2], 4: [3]}
n = len(links)
indices = sorted([to, frm] for frm, tos in links.items() for to in tos)
values = [1.0 / len(links[frm]) for _, frm in indices]
sparse = tf.SparseTensor(indices, values, [n, n])
dense = tf.sparse.to_dense(sparse)
print(dense)
print(tf.reduce_sum(dense, axis=0))


@tf.function
def rank(matrix, damping=0.85, tolerance=1e-7):
    r = tf.fill([n, 1], 1.0 / n)
    error = tf.constant(1.0)
    steps = 0
    while error > tolerance:
        new = damping * tf.matmul(matrix, r) + (1.0 - damping) / n
        error = tf.reduce_sum(tf.abs(new - r))
        r = new
        steps += 1
    return r, steps


r, steps = rank(dense)
print(r.numpy().ravel(), steps.numpy() > 10)
s = tf.fill([n, 1], 1.0 / n)
for _ in range(60):
    s = 0.85 * tf.sparse.sparse_dense_matmul(sparse, s) + 0.15 / n
print(tf.reduce_max(tf.abs(r - s)).numpy() < 1e-5)
print(tf.argsort(r[:, 0], direction="DESCENDING").numpy())
print(tf.sparse.reduce_sum(sparse, axis=1).numpy(), sparse.shape)
