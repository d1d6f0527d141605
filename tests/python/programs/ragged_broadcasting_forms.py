"""Binary ops of ragged tensors with dense and ragged ones of other ranks; broadcasts that fit and that do not."""

import numpy as np
import tensorflow as tf
from calls import tell

rt = tf.ragged.constant([[1, 2, 3], [], [4, 5]])
same = tf.ragged.constant([[10, 20, 30], [], [40, 50]])
other = tf.ragged.constant([[10, 20], [], [40, 50]])
columns = tf.ragged.constant([[1], [2], [3]])
deep = tf.ragged.constant([[[1, 2], [3]], [], [[4], [], [5, 6]]])
inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
uniform = tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1, 2], [3], [4], []]), 2)
small = tf.ragged.constant([[1, 2, 3], [], [4, 5]], row_splits_dtype=tf.int32)
D = tf.experimental.DynamicRaggedShape

tell(
    """
    rt + 1
    rt + tf.constant(1)
    rt + [[1], [2], [3]]
    rt + tf.constant([[1], [2], [3]])
    rt + tf.constant([1])
    rt + tf.constant([1, 2])
    rt + tf.constant([[1, 2, 3]])
    rt + tf.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    tf.constant([[1], [2], [3]]) - rt
    [[1], [2], [3]] * rt
    np.array([[1], [2], [3]], np.int32) * rt
    rt * np.int32(3)
    rt * np.array([[1], [2], [3]])
    rt + same
    rt + other
    rt + columns
    columns + rt
    columns + columns
    rt + tf.ragged.constant([[1], [2]])
    deep + 1
    deep + tf.constant([[[1]], [[2]], [[3]]])
    deep + tf.constant([1])
    deep + tf.constant([[1]])
    deep + tf.constant([[1], [2]])
    deep + tf.ragged.constant([[[10], [20]], [], [[30], [40], [50]]])
    deep + tf.ragged.constant([[[10]], [[20]], [[30]]])
    deep + tf.ragged.constant([[10, 20], [], [30, 40, 50]])
    deep + rt
    inner + tf.constant([10, 20])
    inner + tf.constant([[10], [20]])
    inner + tf.constant([[[10]], [[20]]])
    inner + inner
    inner + tf.ragged.constant([[[1], [2]], [[3]]], ragged_rank=1)
    inner + tf.ragged.constant([[1, 2]])
    uniform + tf.constant([[[1], [2]], [[3], [4]]])
    uniform + tf.constant([[[1], [2]]])
    uniform + tf.constant([[1], [2]])
    uniform + uniform
    small + small
    small + rt
    rt + small
    rt == same
    rt == rt
    rt != 3
    rt < tf.constant([[2], [2], [5]])
    rt >= same
    rt == other
    tf.equal(rt, same)
    tf.maximum(rt, 3)
    tf.minimum(deep, tf.constant([[[2]], [[2]], [[4]]]))
    tf.pow(rt, 2)
    tf.add(1, rt)
    tf.logical_and(rt > 1, rt < 5)
    (rt > 1) & (rt < 5)
    ~(rt > 1)
    -rt
    abs(-rt)
    rt % 2
    rt // 2
    rt / 2
    2 ** rt
    rt @ rt
    tf.math.floormod(rt, [[2], [3], [4]])
    rt + 1.5
    rt + tf.constant(1.5)
    rt + "a"
    rt + None
    tf.ragged.constant([["a", "b"], ["c"]]) + "x"
    tf.ragged.constant([["a", "b"], ["c"]]) + [["x"], ["y"]]
    tf.math.squared_difference(rt, same)
    tf.where(rt > 2, rt, 0)
    tf.where(rt > 2, rt, same)
    tf.where(rt > 2)
    tf.where(deep > 2)
    tf.where(rt > 2, [[1], [2], [3]], 0)
    tf.where(tf.constant([[True], [False], [True]]), rt, same)
    tf.where(True, rt, same)
    tf.ones([2, 3]) + tf.ragged.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    tf.ones([2, 3]) + tf.ragged.constant([[1.0, 2.0, 3.0], [4.0, 5.0]])
    tf.ones([3, 1, 1]) + tf.ragged.constant([[1.0, 2.0, 3.0], [4.0, 5.0]])
    tf.ones([2, 2, 1]) + tf.ragged.constant([[1.0, 2.0, 3.0], [4.0, 5.0]])
    tf.zeros([0, 1], tf.int32) + rt
    tf.broadcast_to(rt, D.from_tensor(rt))
    tf.broadcast_to([[1], [2], [3]], D.from_tensor(rt))
    tf.broadcast_to(7, D.from_tensor(rt))
    tf.broadcast_to(columns, D.from_tensor(rt))
    tf.broadcast_to(rt, [3, 3])
    tf.broadcast_to(tf.constant([1, 2]), D.from_tensor(rt))
    tf.broadcast_to(tf.constant([[1], [2]]), D.from_tensor(rt))
    tf.broadcast_dynamic_shape(D.from_tensor(rt), D.from_tensor(columns))
    tf.broadcast_dynamic_shape(D.from_tensor(rt), [1])
    tf.broadcast_static_shape(rt.shape, tf.TensorShape([3, 1]))
    tf.add_n([rt, same, rt])
    tf.add_n([rt, other])
    tf.math.divide_no_nan(tf.cast(rt, tf.float32), 0.0)
    rt.__add__(1)
    rt.__radd__(1)
    divmod(rt, 2)
    bool(rt == same)
    """,
    globals(),
)
