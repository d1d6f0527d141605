"""Grouping rows: unique, segment sums, sorting by keys, one-hot counts, joins of two tables."""
import tensorflow as tf

keys = tf.constant(["b", "a", "c", "a", "b", "a"])
values = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
unique, ids, counts = tf.unique_with_counts(keys)
print(unique, ids, counts)
n = tf.size(unique)
for name, f in (("sum", tf.math.unsorted_segment_sum), ("mean", tf.math.unsorted_segment_mean),
                ("max", tf.math.unsorted_segment_max), ("min", tf.math.unsorted_segment_min),
                ("prod", tf.math.unsorted_segment_prod)):
    print(name, dict(zip(unique.numpy(), f(values, ids, n).numpy())))
order = tf.argsort(ids, stable=True)
print(tf.gather(keys, order), tf.gather(values, order))
rows = tf.RaggedTensor.from_value_rowids(tf.gather(values, order), tf.cast(tf.gather(ids, order), tf.int64))
print(rows, tf.reduce_sum(rows, axis=1))
one_hot = tf.one_hot(ids, n)
print(tf.linalg.matvec(one_hot, values, transpose_a=True))
left = tf.constant([3, 1, 2])
right = tf.constant([[1, 10], [2, 20], [3, 30]])
match = tf.where(left[:, None] == right[None, :, 0])
print(match)
print(tf.stack([tf.gather(left, match[:, 0]), tf.gather(right[:, 1], match[:, 1])], axis=1))
print(tf.dynamic_partition(values, ids, 3))
print(tf.math.cumsum(tf.ones_like(values)), tf.math.bincount(ids), tf.math.bincount(ids, weights=values))
print(tf.boolean_mask(values, keys == "a"), tf.reduce_mean(tf.boolean_mask(values, keys == "b")))
i, j = tf.meshgrid(tf.range(2), tf.range(3), indexing="ij")
print(tf.stack([tf.reshape(i, [-1]), tf.reshape(j, [-1])], 1))
print(tf.searchsorted([1.0, 2.5, 4.0], values), tf.histogram_fixed_width_bins(values, [0.0, 6.0], nbins=3))
