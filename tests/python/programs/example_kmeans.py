"""k-means clustering with tensor operations and a while loop."""
import tensorflow as tf

points = tf.constant([[1.0, 1.0], [1.5, 2.0], [3.0, 4.0], [5.0, 7.0], [3.5, 5.0], [4.5, 5.0], [3.5, 4.5]])


@tf.function
def kmeans(points, centers, limit=20):
    moved = tf.constant(True)
    steps = 0
    assignment = tf.zeros([tf.shape(points)[0]], tf.int64)
    while moved and steps < limit:
        distances = tf.reduce_sum((points[:, None] - centers[None]) ** 2, axis=2)
        assignment = tf.argmin(distances, axis=1)
        sums = tf.math.unsorted_segment_sum(points, assignment, 2)
        counts = tf.math.unsorted_segment_sum(tf.ones([tf.shape(points)[0]]), assignment, 2)
        new = sums / counts[:, None]
        moved = tf.reduce_any(tf.abs(new - centers) > 1e-6)
        centers = new
        steps += 1
    return centers, assignment, steps


centers, assignment, steps = kmeans(points, points[:2])
print(centers)
print(assignment)
print(steps)
order = tf.argsort(assignment, stable=True)
print(tf.gather(points, order))
groups = tf.dynamic_partition(points, tf.cast(assignment, tf.int32), 2)
for g in groups:
    print(g.shape, tf.reduce_mean(g, axis=0).numpy())
