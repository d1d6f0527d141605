"""tf.gather and tf.gather_nd with ragged values, ragged indices, both; along every axis and in batches."""

import tensorflow as tf
from calls import tell

dense = tf.reshape(tf.range(24), [2, 3, 4])
words = tf.constant([["a", "b", "c"], ["d", "e", "f"]])
vector = tf.constant([10, 20, 30, 40])
rt = tf.ragged.constant([[1, 2, 3], [], [4, 5]])
deep = tf.ragged.constant([[[1, 2], [3]], [], [[4], [], [5, 6]]])
inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
ix = tf.ragged.constant([[0, 1], [1]])
ix64 = tf.ragged.constant([[2], [0, 0, 1]], dtype=tf.int64)
ix3 = tf.ragged.constant([[[0], [1, 1]], [[0, 1]]])
zeros = tf.ragged.constant([[0], [], [1, 0]])

tell(
    """
    tf.gather(vector, ix)
    tf.gather(vector, ix64)
    tf.gather(vector, ix3)
    tf.gather(dense, ix)
    tf.gather(dense, ix).shape
    tf.gather(dense, ix3).shape
    tf.gather(dense, ix, axis=1)
    tf.gather(dense, ix, axis=2)
    tf.gather(dense, ix, axis=-1).shape
    tf.gather(dense, ix64, axis=1).to_list()
    tf.gather(dense, ix3, axis=1).to_list()
    tf.gather(dense, ix3, axis=2).shape
    tf.gather(words, ix, axis=1)
    tf.gather(words, ix, axis=-1)
    tf.gather(words, ix, batch_dims=1)
    tf.gather(words, ix64, batch_dims=1, axis=1)
    tf.gather(dense, ix, batch_dims=1)
    tf.gather(dense, ix, batch_dims=1, axis=1).shape
    tf.gather(dense, ix, batch_dims=1, axis=2)
    tf.gather(dense, ix3, batch_dims=1)
    tf.gather(dense, ix3, batch_dims=2)
    tf.gather(dense, ix3, batch_dims=1, axis=2)
    tf.gather(dense, tf.ragged.constant([[[0], [1, 1], [3]], [[0, 1], [], [2]]]), batch_dims=2)
    tf.gather(dense, tf.ragged.constant([[[0], [1, 1], [3]], [[0, 1], [], [2]]]), batch_dims=2, axis=2)
    tf.gather(dense, tf.ragged.constant([[[0], [1, 1], [3]], [[0, 1], [], [2]]]), batch_dims=-1)
    tf.gather(rt, [0, 2])
    tf.gather(rt, 0)
    tf.gather(rt, [[0, 2], [2, 1]])
    tf.gather(rt, ix)
    tf.gather(rt, ix3)
    tf.gather(rt, zeros, batch_dims=1)
    tf.gather(rt, zeros, batch_dims=1, axis=1)
    tf.gather(tf.ragged.constant([[1, 2], [3], [4, 5]]), [0, 0, 1], batch_dims=1)
    tf.gather(tf.ragged.constant([[1, 2], [3], [4, 5]]), [[0, 0], [0, 0], [1, 0]], batch_dims=1)
    tf.gather(tf.ragged.constant([[1, 2], [3], [4, 5]]), [0], axis=1)
    tf.gather(tf.ragged.constant([[1, 2], [3, 7, 8], [4, 5]]), [0, 1], axis=1)
    tf.gather(tf.ragged.constant([[1, 2], [3, 7, 8], [4, 5]]), ix, axis=1)
    tf.gather(deep, [2, 0])
    tf.gather(deep, ix)
    tf.gather(deep, zeros, batch_dims=1)
    tf.gather(deep, tf.ragged.constant([[[0, 0], [0]], [], [[0], [], [1]]]), batch_dims=2)
    tf.gather(deep, tf.ragged.constant([[[0, 0], [0]], [], [[0], [], [1]]]), batch_dims=2, axis=2)
    tf.gather(inner, [1, 0])
    tf.gather(inner, [1, 0], axis=2)
    tf.gather(inner, [0], axis=1)
    tf.gather(inner, [0], axis=-1)
    tf.gather(inner, ix, axis=2)
    tf.gather(inner, [[1], [0]], batch_dims=1)
    tf.gather(inner, [[1], [0]], batch_dims=1, axis=2)
    tf.gather(rt, tf.constant([0], tf.int8))
    tf.gather(rt, [0.5])
    tf.gather(rt, [5])
    tf.gather(rt, [-1])
    tf.gather(vector, tf.ragged.constant([[7]]))
    tf.gather(rt, [0], axis=2)
    tf.gather(rt, [0], axis=-3)
    tf.gather(rt, [0], batch_dims=1)
    tf.gather(rt, ix, batch_dims=2, axis=1)
    tf.gather(rt, ix, batch_dims=3)
    tf.gather(dense, ix, batch_dims=2, axis=1)
    tf.gather(dense, ix, axis=tf.constant(1)).shape
    tf.gather(dense, ix, axis=5)
    tf.gather(words, ix, batch_dims=5)
    tf.gather(words, tf.ragged.constant([[0], [1], [2]]), batch_dims=1)
    tf.gather(params=rt, indices=[2], name="n")
    tf.compat.v1.gather(vector, ix)
    tf.compat.v1.gather(dense, ix, axis=1).shape
    tf.nn.embedding_lookup(dense, ix)
    tf.nn.embedding_lookup(tf.cast(dense, tf.float32), ix, max_norm=2.0).shape
    """,
    globals(),
)
