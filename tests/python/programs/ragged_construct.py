"""Making ragged tensors: from row partitions, tensors, sparse, nested; RowPartition; DynamicRaggedShape; validation."""
import tensorflow as tf

values = tf.constant([3, 1, 4, 1, 5, 9, 2])
print(tf.RaggedTensor.from_value_rowids(values=values, value_rowids=[0, 0, 0, 0, 2, 2, 3]))
print(tf.RaggedTensor.from_row_lengths(values=values, row_lengths=[4, 0, 2, 1]))
print(tf.RaggedTensor.from_row_splits(values=values, row_splits=[0, 4, 4, 6, 7]))
print(tf.RaggedTensor.from_row_starts(values=values, row_starts=[0, 4, 4, 6]))
print(tf.RaggedTensor.from_row_limits(values=values, row_limits=[4, 4, 6, 7]))
print(tf.RaggedTensor.from_uniform_row_length(tf.range(6), 2),
      tf.RaggedTensor.from_uniform_row_length(tf.range(6), 2).shape)
print(tf.RaggedTensor.from_nested_row_splits(tf.range(5), [[0, 2, 3], [0, 1, 4, 5]]))
print(tf.RaggedTensor.from_nested_row_lengths(tf.range(5), [[2, 1], [1, 3, 1]]))
print(tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0),
      tf.RaggedTensor.from_tensor([[1, 2], [3, 4]], lengths=[1, 2]))
print(tf.RaggedTensor.from_tensor(tf.zeros([2, 2, 2]), ragged_rank=2))
sparse = tf.SparseTensor(indices=[[0, 0], [2, 0], [2, 1]], values=["a", "b", "c"], dense_shape=[3, 3])
print(tf.RaggedTensor.from_sparse(sparse))
rt = tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]]], ragged_rank=2)
print(rt.nested_row_splits, rt.nested_row_lengths(), rt.nested_value_rowids())
print(rt.row_starts(), rt.row_limits(), rt.value_rowids(), rt.uniform_row_length, rt.values)
print(rt.with_values(tf.constant([10, 20, 30])), rt.with_flat_values(tf.range(6) * 100))
print(rt.merge_dims(0, 1), rt.merge_dims(1, 2), rt.bounding_shape(axis=1), rt.bounding_shape(out_type=tf.int32))
print(tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1),
      tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(2,)).shape)
print(tf.ragged.constant([[1], []], dtype=tf.float32, row_splits_dtype=tf.int32).row_splits.dtype)
print(tf.ragged.range([3, 0, 2]), tf.ragged.range([0, 5], [3, 8], 2), tf.ragged.stack([values, tf.range(2)]))
print(tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 3),
      tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]))
print(tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]), tf.ragged.segment_ids_to_row_splits([0, 0, 2]))
print(tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([["d"], ["e"]])]))
p = tf.experimental.RowPartition.from_row_lengths([2, 0, 1])
print(p.row_splits(), p.nrows(), p.nvals(), p.value_rowids(), p.row_lengths(), p.is_uniform(), p.offsets_in_rows())
shape = tf.experimental.DynamicRaggedShape.from_lengths([2, (3, 1), 2])
print(shape, shape.rank, shape.num_row_partitions, shape.static_lengths(), shape.inner_shape)
print(tf.experimental.DynamicRaggedShape.from_tensor(rt).static_lengths(), shape.is_uniform(1), shape[0])
print(tf.ones(shape))
for bad in (lambda: tf.RaggedTensor.from_row_splits(values, [0, 4, 3, 7]),
            lambda: tf.RaggedTensor.from_row_lengths(values, [1, 2]),
            lambda: tf.RaggedTensor.from_value_rowids(values, [0, 1, 0, 1, 2, 2, 2])):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
