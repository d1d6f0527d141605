"""tf.gather_nd with ragged values, ragged indices, both; gathers inside functions of open shapes."""

import tensorflow as tf
from calls import tell

dense = tf.reshape(tf.range(24), [2, 3, 4])
rt = tf.ragged.constant([[1, 2, 3], [], [4, 5]])
deep = tf.ragged.constant([[["000", "001"], ["010"]], [["100"], [], ["120", "121"]]])
inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
pairs = tf.ragged.constant([[[0, 1], [1, 2]], [[1, 0]]], ragged_rank=1)


def spec(shape, dtype=tf.int32, **more):
    return tf.RaggedTensorSpec(shape, dtype, **more)


def traced(function, *specs):
    made = tf.function(function, input_signature=specs).get_concrete_function()
    return [type(o).__name__ + str(o.shape) for o in tf.nest.flatten(made.structured_outputs)]


tell(
    """
    tf.gather_nd(dense, pairs)
    tf.gather_nd(dense, pairs).shape
    tf.gather_nd(dense, tf.ragged.constant([[[0, 1, 3]], [[1, 0, 2], [0, 0, 0]]], ragged_rank=1))
    tf.gather_nd(dense, tf.ragged.constant([[[0], [1]], []], ragged_rank=1)).shape
    tf.gather_nd(dense, tf.ragged.constant([[[0, 1], [1]]]))
    tf.gather_nd(rt, [[0, 1], [2, 0]])
    tf.gather_nd(rt, [0, 2])
    tf.gather_nd(rt, [2])
    tf.gather_nd(rt, [[2], [1]])
    tf.gather_nd(rt, [[[2], [1]], [[0], [0]]])
    tf.gather_nd(rt, [[[2, 0]], [[0, 2]]])
    tf.gather_nd(rt, [])
    tf.gather_nd(rt, [[], []])
    tf.gather_nd(rt, tf.ragged.constant([[[0, 1]], [[2, 1], [2, 0]]], ragged_rank=1))
    tf.gather_nd(rt, tf.ragged.constant([[0, 1], [2]]))
    tf.gather_nd(rt, 0)
    tf.gather_nd(deep, [[0, 0, 1], [1, 2, 0]])
    tf.gather_nd(deep, [[0, 1], [1, 1], [1, 2]])
    tf.gather_nd(deep, [[1], [0]])
    tf.gather_nd(deep, [1, 2, 1])
    tf.gather_nd(inner, [[0, 1], [1, 0]])
    tf.gather_nd(inner, [[0, 1, 1], [1, 0, 0]])
    tf.gather_nd(inner, [[0, 1, 1, 3]])
    tf.gather_nd(rt, [[0, 1]], batch_dims=1)
    tf.gather_nd(rt, [[0.5]])
    tf.gather_nd(rt, [[0, 7]])
    tf.gather_nd(rt, [[9]])
    traced(lambda r, i: tf.gather(r, i), spec([None, None]), tf.TensorSpec([None], tf.int32))
    traced(lambda r, i: tf.gather(r, i), spec([None, None]), tf.TensorSpec([5], tf.int32))
    traced(lambda r, i: tf.gather(r, i), spec([None, None]), tf.TensorSpec(None, tf.int32))
    traced(lambda r, i: tf.gather(r, i).flat_values, spec([None, None, 3], ragged_rank=1), tf.TensorSpec([5], tf.int32))
    traced(lambda r, i: tf.gather(r, i), tf.TensorSpec([7, 3]), spec([None, None]))
    traced(lambda r, i: tf.gather(r, i), tf.TensorSpec([7, 3]), spec([4, None]))
    traced(lambda r, i: tf.gather(r, i, axis=1), tf.TensorSpec([7, 3]), spec([4, None]))
    traced(lambda r, i: tf.gather(r, i, axis=1), tf.TensorSpec([None, 3]), spec([4, None]))
    traced(lambda r, i: tf.gather(r, i, batch_dims=1), tf.TensorSpec([4, 3, 2]), spec([4, None]))
    traced(lambda r, i: tf.gather(r, i, batch_dims=1), tf.TensorSpec([None, None, 2]), spec([None, None]))
    traced(lambda r, i: tf.gather(r, i), tf.TensorSpec(None), spec([4, None]))
    traced(lambda r, i: tf.gather(r, i, batch_dims=1), spec([None, None]), spec([None, None]))
    traced(lambda r, i: tf.gather(r, i, batch_dims=1), spec([4, None, None]), spec([4, None]))
    traced(lambda r, i: tf.gather_nd(r, i), spec([4, None]), tf.TensorSpec([None, 2], tf.int32))
    traced(lambda r, i: tf.gather_nd(r, i), spec([4, None]), tf.TensorSpec([None, None], tf.int32))
    traced(lambda r, i: tf.gather_nd(r, i), spec([4, None]), tf.TensorSpec(None, tf.int32))
    traced(lambda r, i: tf.gather_nd(r, i), spec([4, None]), tf.TensorSpec([3, 1], tf.int32))
    """,
    globals(),
)
