"""Compiled functions with results whose shapes depend on data: Where, Unique, masks, and updates of the rows that a gradient touched."""
import numpy as np
import tensorflow as tf


def compiled(f):
    return tf.function(f, jit_compile=True, autograph=False)


x = tf.constant([3, 1, 3, 2])
print(compiled(lambda x: tf.where(x > 1))(x).numpy().tolist())
print(compiled(lambda x: tf.reduce_sum(tf.where(x > 1)))(x).numpy())
print(compiled(lambda x: tf.boolean_mask(x, x > 1) * 2)(x).numpy().tolist())
print(compiled(lambda x: tf.reduce_sum(tf.gather_nd(x, tf.where(x > 1))))(x).numpy())
print([v.numpy().tolist() for v in compiled(lambda x: tf.unique(x))(x)])
print([v.numpy().tolist() for v in compiled(lambda x: tf.dynamic_partition(x * 10, [0, 1, 0, 1], 2))(x)])
print(compiled(lambda x: tf.where(x > 100))(x).numpy().tolist())

table = tf.Variable(np.arange(12, dtype=np.float32).reshape(6, 2))
sums = tf.Variable(np.full((6, 2), 0.1, np.float32))


@compiled
def adagrad(ids, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, ids) ** 2)
    g = tape.gradient(loss, table)
    rows, places = tf.unique(g.indices)
    values = tf.math.unsorted_segment_sum(g.values, places, tf.shape(rows)[0])
    sums.scatter_add(tf.IndexedSlices(values**2, rows))
    table.scatter_sub(tf.IndexedSlices(rate * values / tf.sqrt(tf.gather(sums, rows) + 1e-7), rows))
    return loss


for ids in ([1, 3, 1, 5], [0, 0, 0, 0], [2, 4, 1, 3]):
    print(adagrad(tf.constant(ids), tf.constant(0.1)).numpy(), table.numpy().round(4).tolist())


@compiled
def rows_that_changed(ids):
    """The rows of a dense gradient that are not zero, as optimisers for embeddings find them."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, ids) ** 2)
    g = tf.convert_to_tensor(tape.gradient(loss, table))
    rows = tf.squeeze(tf.where(tf.reduce_any(tf.not_equal(g, 0), axis=1)), 1)
    table.scatter_sub(tf.IndexedSlices(0.01 * tf.gather(g, rows), rows))
    return rows


print(rows_that_changed(tf.constant([1, 3, 1, 5])).numpy().tolist(), table.numpy().round(4).tolist())
