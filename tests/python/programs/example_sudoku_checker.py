"""Checks of number grids with reshapes, sorts, sets of rows, columns and boxes."""
import tensorflow as tf

good = tf.constant([[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 1]])
bad = tf.tensor_scatter_nd_update(good, [[0, 0], [3, 3]], [2, 2])


def groups(grid):
    rows = grid
    columns = tf.transpose(grid)
    boxes = tf.reshape(tf.transpose(tf.reshape(grid, [2, 2, 2, 2]), [0, 2, 1, 3]), [4, 4])
    return tf.stack([rows, columns, boxes])


@tf.function
def valid(grid):
    return tf.reduce_all(tf.sort(groups(grid), axis=-1) == tf.range(1, 5))


print(groups(good))
print(valid(good).numpy(), valid(bad).numpy())
wrong = tf.reduce_any(tf.sort(groups(bad), axis=-1) != tf.range(1, 5), axis=-1)
print(tf.where(wrong).numpy().tolist())
print(tf.reduce_sum(good, axis=0).numpy(), tf.linalg.trace(good).numpy(), tf.reverse(good, [0])[0].numpy())
one_hot = tf.one_hot(good - 1, 4, dtype=tf.int32)
print(one_hot.shape, tf.reduce_sum(one_hot, axis=0))
missing = tf.sets.difference(tf.constant([[1, 2, 3, 4]]), bad[:1])
print(tf.sparse.to_dense(missing).numpy())
print(tf.unique(bad[0]).y.numpy(), tf.math.bincount(bad[0]).numpy())
magic = tf.constant([[2, 7, 6], [9, 5, 1], [4, 3, 8]])
sums = tf.concat([tf.reduce_sum(magic, 0), tf.reduce_sum(magic, 1), [tf.linalg.trace(magic)],
                  [tf.linalg.trace(tf.reverse(magic, [1]))]], 0)
print(sums.numpy(), tf.reduce_all(sums == 15).numpy())
