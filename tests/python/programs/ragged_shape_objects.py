"""tf.experimental.DynamicRaggedShape and RowPartition: made, printed, compared, cut, broadcast."""

import tensorflow as tf
from calls import tell

D, P = tf.experimental.DynamicRaggedShape, tf.experimental.RowPartition
rt = tf.ragged.constant([[1, 2, 3], [], [4, 5]])
deep = tf.ragged.constant([[[1, 2], [3]], [], [[4], [], [5, 6]]])
inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
uniform = tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1, 2], [3], [4], []]), 2)

tell(
    """
    D.from_tensor(rt)
    D.from_tensor(deep)
    D.from_tensor(inner)
    D.from_tensor(uniform)
    D.from_tensor(tf.zeros([2, 3]))
    D.from_tensor(1)
    D.from_lengths([3, (2, 0, 4)])
    D.from_lengths([3, (2, 0, 4), 5])
    D.from_lengths([2, 3, (1, 2, 3, 4, 5, 6)])
    D.from_lengths([2, (1, 2), 3, (1, 2, 3, 4, 5, 6, 7, 8, 9)])
    D.from_lengths([3, 4])
    D.from_lengths([])
    D.from_lengths([3, (2, 0)])
    D.from_lengths([3, (2, 0, 4)], num_row_partitions=1)
    D.from_lengths([3, 2], num_row_partitions=1)
    D.from_lengths([3, 2], num_row_partitions=2)
    D.from_lengths([3, (2, 0, 4)], dtype=tf.int32)
    D.from_lengths([-1, 3])
    D.from_lengths(["a"])
    D.from_row_partitions([P.from_row_splits([0, 2, 3])])
    D.from_row_partitions([])
    D.from_row_partitions([P.from_row_splits([0, 2, 3]), P.from_row_lengths([1, 2, 3])])
    D.from_row_partitions([P.from_row_splits([0, 2, 3]), P.from_row_lengths([1, 2])])
    D([P.from_row_splits([0, 2, 3])], inner_shape=[3, 5])
    D([P.from_row_splits([0, 2, 3])], inner_shape=[4, 5])
    D([], [2, 3])
    D([P.from_row_splits([0, 2, 3])], [])
    D([P.from_row_splits([0, 2, 3])], [3], dtype=tf.int32)
    D([P.from_row_splits([0, 2, 3])], [3], static_inner_shape=[3])
    D.from_tensor(rt).rank
    D.from_tensor(rt).num_row_partitions
    D.from_tensor(rt).row_partitions
    D.from_tensor(rt).inner_shape
    D.from_tensor(rt).inner_rank
    D.from_tensor(rt).dtype
    D.from_tensor(rt).static_lengths()
    D.from_tensor(inner).static_lengths()
    D.from_tensor(inner).static_lengths(ragged_lengths=False)
    D.from_tensor(rt).is_uniform(0)
    D.from_tensor(rt).is_uniform(1)
    D.from_tensor(rt).is_uniform(2)
    D.from_tensor(rt)[0]
    D.from_tensor(rt)[1]
    D.from_tensor(inner)[2]
    D.from_tensor(inner)[-1]
    D.from_tensor(rt)[5]
    D.from_tensor(deep)[:2]
    D.from_tensor(deep)[:1]
    D.from_tensor(deep)[1:]
    D.from_tensor(inner)[2:]
    D.from_tensor(inner)[:]
    D.from_tensor(inner)[::2]
    D.from_tensor(rt)["a"]
    D.from_tensor(rt) == D.from_tensor(rt)
    D.from_tensor(rt) != D.from_tensor(rt)
    D.from_tensor(tf.zeros([2])) == D.from_tensor(tf.ones([2]))
    D.from_tensor(rt).with_dtype(tf.int32)
    D.from_tensor(rt).with_dtype("int16")
    D.from_tensor(rt).__dict__.keys() >= {"a"}
    len(D.from_tensor(rt))
    list(D.from_tensor(rt))
    tf.shape(rt)
    tf.shape(rt, out_type=tf.int64)
    tf.shape(deep)[0]
    tf.size(rt)
    tf.size(deep, out_type=tf.int64)
    tf.rank(deep)
    tf.reshape(tf.range(5), D.from_tensor(rt))
    tf.reshape(rt, [5])
    tf.reshape(rt, D.from_lengths([5]))
    tf.reshape(deep, D.from_lengths([2, (4, 2)]))
    tf.reshape(rt, D.from_lengths([3, (1, 1, 3)]))
    tf.reshape(rt, D.from_lengths([3, (1, 1, 9)]))
    tf.reshape(rt, [-1])
    tf.reshape(deep, [-1, 2])
    tf.zeros(D.from_tensor(rt))
    tf.ones(D.from_tensor(deep), tf.int32)
    tf.fill(D.from_tensor(rt), "x")
    tf.zeros_like(deep)
    tf.ones_like(rt, dtype=tf.float64)
    tf.random.stateless_uniform(D.from_tensor(rt), seed=[1, 2])
    P.from_row_splits([0, 2, 3])
    P.from_row_lengths([2, 0, 3])
    P.from_value_rowids([0, 0, 2], nrows=4)
    P.from_row_starts([0, 2], nvals=5)
    P.from_row_limits([2, 5])
    P.from_uniform_row_length(3, nvals=6)
    P.from_uniform_row_length(0, nvals=0, nrows=4)
    P.from_row_splits([0, 3, 2])
    P.from_row_splits([1, 2])
    P.from_row_splits([])
    P.from_row_splits([[0, 1]])
    P.from_row_lengths([-1])
    P.from_value_rowids([1, 0])
    P.from_value_rowids([0, 5], nrows=2)
    P.from_row_starts([1, 2], nvals=5)
    P.from_row_limits([5, 2])
    P.from_uniform_row_length(4, nvals=6)
    P.from_row_splits([0, 2, 3]).nrows()
    P.from_row_splits([0, 2, 3]).nvals()
    P.from_row_splits([0, 2, 3]).value_rowids()
    P.from_row_splits([0, 2, 3]).offsets_in_rows()
    P.from_row_splits([0, 2, 3]).row_lengths()
    P.from_row_splits([0, 2, 3]).is_uniform()
    P.from_row_splits([0, 2, 3]).static_nrows
    P.from_row_splits([0, 2, 3]).static_nvals
    P.from_row_splits([0, 2, 3]).with_dtype(tf.int32).dtype
    tf.RaggedTensor.from_nested_row_partitions
    tf.type_spec_from_value(P.from_row_splits([0, 2, 3]))
    tf.type_spec_from_value(P.from_uniform_row_length(3, nvals=6))
    tf.type_spec_from_value(D.from_tensor(rt))
    D.Spec(row_partitions=[], static_inner_shape=[2, 3], dtype=tf.int64)
    """,
    globals(),
)
