"""Ragged tensors, part 2."""

import contextlib
import re

import numpy as np
import tensorflow as tf


def without_addresses(text):
    return re.sub(r" at 0x\w+", "", text)


@contextlib.contextmanager
def shown():
    """Prints the kind and the text of an error."""
    try:
        yield
    except Exception as e:
        print(type(e).__name__ + ":", without_addresses(str(e)))


def show(call):
    with shown():
        value = call()
        if value is not None:
            print(without_addresses(repr(value)))


R = tf.ragged
rt = R.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
show(lambda: tf.reduce_sum(rt, axis=5))
show(lambda: tf.concat([rt, rt], axis=1))
show(lambda: tf.concat([rt, rt], axis=0).shape)
show(lambda: tf.stack([rt, rt]))
show(lambda: tf.stack([rt, rt], axis=1).shape)
show(lambda: tf.concat([rt, [[1, 2, 3]]], axis=0))
show(lambda: tf.concat([rt, [1]], axis=0))
show(lambda: tf.expand_dims(rt, 0))
show(lambda: tf.expand_dims(rt, 2).shape)
show(lambda: tf.squeeze(tf.expand_dims(rt, 0), [0]))
show(lambda: tf.gather(rt, [9]))
show(lambda: tf.where(rt > 2, rt, 0))
show(lambda: tf.size(rt))
show(lambda: tf.rank(rt))
show(lambda: tf.shape(rt))
show(lambda: tf.zeros_like(rt))
show(lambda: tf.ones_like(rt))
show(lambda: tf.cast(rt, tf.float32))
show(lambda: tf.identity(rt))
show(lambda: tf.transpose(rt))
show(lambda: tf.reshape(rt, [-1]))
show(lambda: tf.sort(rt))
show(lambda: tf.sqrt(rt))
show(lambda: tf.sqrt(tf.cast(rt, tf.float32)))
show(lambda: tf.clip_by_value(rt, 2, 5))
show(lambda: tf.one_hot(rt, 3).shape)
show(lambda: tf.reverse(rt, axis=[1]))
show(lambda: tf.strings.join([R.constant([["a", "b"], ["c"]]), "!"]))
show(lambda: tf.strings.upper(R.constant([["a"], []], dtype=tf.string)))
show(lambda: tf.strings.length(R.constant([["aa"]])))
show(lambda: tf.map_fn(tf.reduce_sum, rt))
show(lambda: tf.map_fn(lambda x: x * 2, rt, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32)))
show(lambda: tf.map_fn(lambda x: x * 2, rt))
show(lambda: tf.ragged.map_flat_values(tf.sqrt, tf.cast(rt, tf.float32)))
show(lambda: tf.ragged.map_flat_values(lambda x, y: x + y, rt, rt))
show(lambda: tf.ragged.map_flat_values(lambda x: tf.zeros([2]), rt))
show(lambda: R.constant([1, 2]))
show(lambda: R.constant(3))
show(lambda: R.constant([[[1], [2, 3]], [[4]]]))
show(lambda: R.constant([[1, 2], [3, 4]]))
show(lambda: R.constant([]))
show(lambda: R.constant([[], []]))
show(lambda: R.constant([[1, 2], [3, 4]], ragged_rank=1))
show(lambda: R.constant([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,)))
show(lambda: R.constant([[1.5], []], dtype=tf.float64, row_splits_dtype=tf.int32))
show(lambda: R.constant([[1], 2]))
show(lambda: R.constant([["a"], [1]]))
show(lambda: R.constant([[1, None]]))
show(lambda: R.constant([[1], [[2]]]))
show(lambda: R.constant([[1]], ragged_rank=3))
show(lambda: R.constant("a"))
show(lambda: R.constant([[b"a"], ["b", "c"]]))
show(lambda: R.constant(np.array([[1, 2], [3, 4]])))
show(lambda: R.constant([[1], [2, 3]], dtype=tf.string))
show(lambda: R.constant(None))
show(lambda: R.constant({"a": 1}))
show(lambda: R.range(3))
show(lambda: R.range([2, 0, 3]))
show(lambda: R.range([0, 5], [3, 8]))
show(lambda: R.range([1, 2], [5, 8], 2))
show(lambda: R.range([1], [5], 0))
show(lambda: R.stack([[1, 2], [3]]))
show(lambda: R.stack([rt, rt]).shape)
show(lambda: R.row_splits_to_segment_ids([0, 2, 3]))
show(lambda: R.segment_ids_to_row_splits([0, 0, 2]))
show(lambda: R.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]))
show(lambda: R.cross([R.constant([["a"]]), R.constant([["b", "c"]])]))
show(lambda: R.cross_hashed([[["a"]], [["b"]]]))
T = tf.RaggedTensor
show(lambda: T.from_row_splits([1, 2, 3], [0, 1, 3]))
show(lambda: T.from_row_lengths([1, 2, 3], [1, 2]))
show(lambda: T.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4))
show(lambda: T.from_row_starts([1, 2, 3], [0, 1]))
show(lambda: T.from_row_limits([1, 2, 3], [1, 3]))
show(lambda: T.from_uniform_row_length([1, 2, 3, 4], 2))
show(lambda: T.from_tensor([[1, 0], [2, 3]], padding=0))
show(lambda: T.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[1, 2]))
show(lambda: T.from_sparse(tf.sparse.from_dense([[1, 0], [2, 3]])))
show(lambda: T.from_nested_row_splits([1, 2], [[0, 1], [0, 2]]))
show(lambda: T.from_nested_row_lengths([1, 2], [[1], [2]]))
show(lambda: T.from_row_splits([1, 2, 3], [0, 5]))
show(lambda: T.from_row_splits([1, 2, 3], [1, 3]))
show(lambda: T.from_row_splits([1, 2, 3], [0, 2, 1, 3]))
