"""Ragged tensors, part 3."""

import tensorflow as tf
from calls import show

R = tf.ragged
rt = R.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
T = tf.RaggedTensor
show(lambda: T.from_row_splits([1, 2, 3], [0.0, 3.0]))
show(lambda: T.from_row_splits([1, 2, 3], [[0, 3]]))
show(lambda: T.from_row_splits([1, 2, 3], "a"))
show(lambda: T.from_row_lengths([1, 2, 3], [1, 1]))
show(lambda: T.from_row_lengths([1, 2, 3], [-1, 4]))
show(lambda: T.from_value_rowids([1, 2], [1, 0]))
show(lambda: T.from_value_rowids([1, 2], [0, 5], nrows=2))
show(lambda: T.from_uniform_row_length([1, 2, 3], 2))
show(lambda: T.from_tensor(3))
show(lambda: T.from_sparse(3))
show(lambda: T(1, 2))
show(lambda: T.from_row_splits([1, 2, 3], [0, 5], validate=False))
show(lambda: tf.RaggedTensorSpec([None, None], tf.int32))
show(lambda: tf.RaggedTensorSpec(shape=[2, None], dtype=tf.string, ragged_rank=1, row_splits_dtype=tf.int32))
show(lambda: tf.type_spec_from_value(rt))
show(lambda: rt._type_spec)
show(lambda: tf.RaggedTensorSpec([2, 3], ragged_rank=5))
show(lambda: tf.RaggedTensorSpec(None, ragged_rank=1))
show(lambda: tf.RaggedTensorSpec([None, None]).is_compatible_with(rt))
show(lambda: tf.RaggedTensorSpec([None, None], tf.int32) == tf.RaggedTensorSpec([None, None], tf.int32))
show(lambda: rt.with_values(tf.cast(rt.values, tf.string) if False else rt.values * 2))
show(lambda: rt.with_flat_values(rt.flat_values + 1))
show(lambda: rt.merge_dims(0, 1))
show(lambda: rt.with_values([1, 2]))
show(lambda: rt.merge_dims(0, 5))
show(lambda: R.constant([[[1], [2, 3]], [[4]]]).merge_dims(1, 2))
show(lambda: R.constant([[[1], [2, 3]], [[4]]]).bounding_shape(axis=1))
show(lambda: R.constant([[[1], [2, 3]], [[4]]]).bounding_shape(out_type=tf.int32))
show(lambda: R.constant([[[1], [2, 3]], [[4]]]).row_lengths(axis=2))
show(lambda: rt.row_lengths(axis=3))
show(lambda: rt.foo)


@tf.function
def f(x):
    return x * 2, x.shape, tf.reduce_sum(x, axis=1)


show(lambda: f(rt))


@tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
def g(x):
    return tf.reduce_sum(x)


show(lambda: g(rt))
show(lambda: tf.nn.dropout(tf.cast(rt, tf.float32), 0.0))
show(lambda: tf.nn.relu(tf.cast(rt, tf.float32)))
show(lambda: tf.nn.softmax(tf.cast(rt, tf.float32)))
show(lambda: tf.nn.embedding_lookup(tf.ones([10, 2]), rt).shape)
show(lambda: tf.print(rt))
show(lambda: str(rt))
show(lambda: f"{rt}")
show(lambda: "%r" % R.constant([[1.5, 2.25], []]))
show(lambda: R.constant([list(range(30))] * 3))
show(lambda: print(R.constant([["a"] * 3] * 12)))
show(lambda: tf.strings.split(["a b", "c"]))
show(lambda: tf.strings.split("a b"))
show(lambda: tf.strings.split([["a b"], ["c d e"]]))
show(lambda: tf.strings.bytes_split(["ab", "c"]))
show(lambda: tf.strings.unicode_decode(["ab", "é"], "UTF-8"))
show(lambda: tf.strings.unicode_split("héy", "UTF-8"))
show(lambda: tf.strings.ngrams(["a", "b", "c"], 2))
show(lambda: tf.strings.reduce_join(R.constant([["a", "b"], ["c"]]), axis=1))
show(lambda: tf.strings.format("{}", rt))
show(lambda: tf.strings.substr(R.constant([["abc"], ["de"]]), 0, 2))
show(lambda: tf.strings.regex_replace(R.constant([["abc"], ["de"]]), "b", "x"))
show(lambda: tf.strings.to_number(R.constant([["1"], ["2", "3"]])))
show(lambda: tf.strings.as_string(rt))
show(lambda: tf.ragged.RaggedTensorValue if hasattr(tf.ragged, "RaggedTensorValue") else None)
show(lambda: tf.experimental.RowPartition.from_row_splits([0, 2, 3]))
show(lambda: tf.experimental.RowPartition.from_row_lengths([1, 2]).row_splits())
show(lambda: tf.experimental.DynamicRaggedShape.from_tensor(rt))
show(lambda: tf.broadcast_to(tf.constant([1]), tf.experimental.DynamicRaggedShape.from_tensor(rt)) if False else None)
import pickle, copy

show(lambda: pickle.loads(pickle.dumps(rt)))
show(lambda: copy.copy(rt))
show(lambda: copy.deepcopy(rt))
