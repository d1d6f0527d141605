"""Shortest paths by relaxation with minimum-plus products, and by a loop over vertices."""
import tensorflow as tf

inf = float("inf")
edges = [(0, 1, 4.0), (0, 2, 1.0), (2, 1, 2.0), (1, 3, 5.0), (2, 3, 8.0), (3, 4, 3.0)]
n = 5
weights = tf.fill([n, n], inf)
weights = tf.tensor_scatter_nd_update(weights, [[a, b] for a, b, _ in edges], [w for *_, w in edges])
weights = tf.linalg.set_diag(weights, tf.zeros([n]))
print(weights)


@tf.function
def min_plus(a, b):
    return tf.reduce_min(a[:, :, None] + b[None], axis=1)


all_pairs = weights
for _ in range(3):
    all_pairs = min_plus(all_pairs, all_pairs)
print(all_pairs)


@tf.function
def dijkstra(source):
    distance = tf.tensor_scatter_nd_update(tf.fill([n], inf), [[source]], [0.0])
    done = tf.zeros([n], tf.bool)
    previous = tf.fill([n], -1)
    for _ in tf.range(n):
        u = tf.argmin(tf.where(done, inf, distance), output_type=tf.int32)
        done = tf.tensor_scatter_nd_update(done, [[u]], [True])
        candidate = distance[u] + weights[u]
        better = candidate < distance
        previous = tf.where(better, u, previous)
        distance = tf.minimum(distance, candidate)
    return distance, previous


distance, previous = dijkstra(tf.constant(0))
print(distance, previous)
print(tf.reduce_all(distance == all_pairs[0]).numpy())
path, at = [], 4
while at >= 0:
    path.append(at)
    at = int(previous[at])
print(path[::-1])
print([dijkstra(tf.constant(s))[0].numpy().tolist() for s in range(2)])
print(tf.math.is_inf(all_pairs[4]).numpy(), tf.math.count_nonzero(tf.math.is_finite(all_pairs)).numpy())
