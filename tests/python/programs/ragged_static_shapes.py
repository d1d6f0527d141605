"""Static shapes of ragged tensors and of their flat values, row splits and rows, in eager mode and in functions."""

import tensorflow as tf
from calls import tell

rt = tf.ragged.constant([[1, 2, 3], [], [4, 5]])
deep = tf.ragged.constant([[[1, 2], [3]], [], [[4], [], [5, 6]]])
inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
uniform = tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1, 2], [3], [4], []]), 2)


def parts(r):
    return (r.shape, r.flat_values.shape, [s.shape for s in r.nested_row_splits], r.uniform_row_length is not None)


def seen(function, *specs):
    """What a function that gets these specs sees of its arguments."""
    found = []

    def body(*args):
        found.append(function(*args))

    tf.function(body, input_signature=specs).get_concrete_function()
    return found[0]


def spec(*args, **more):
    return tf.RaggedTensorSpec(*args, **more)


def of(r):
    return [str(p) for p in parts(r)]


tell(
    """
    of(rt)
    of(deep)
    of(inner)
    of(uniform)
    seen(of, spec([None, None], tf.int32))
    seen(of, spec([3, None], tf.int32))
    seen(of, spec([3, None, 2], tf.int32))
    seen(of, spec([3, None, 2], tf.int32, ragged_rank=1))
    seen(of, spec([3, None, None], tf.int32))
    seen(of, spec([3, None, None], tf.int32, ragged_rank=1))
    seen(of, spec([3, 2, None], tf.int32))
    seen(of, spec([3, 2, None, 4], tf.int32, ragged_rank=2))
    seen(of, spec([None, 2, None], tf.int32, row_splits_dtype=tf.int32))
    seen(of, spec(None, tf.int32, ragged_rank=1))
    seen(of, spec(None, tf.int32, ragged_rank=2))
    seen(of, spec(ragged_rank=1, dtype=tf.int32, flat_values_spec=tf.TensorSpec([None, 5], tf.int32)))
    seen(lambda r: r.values.shape, spec([3, None, None], tf.int32))
    seen(lambda r: r[0].shape, spec([3, None], tf.int32))
    seen(lambda r: r[0].shape, spec([3, 4, None], tf.int32))
    seen(lambda r: r[1:].shape, spec([3, None], tf.int32))
    seen(lambda r: r[1:2].shape, spec([None, None], tf.int32))
    seen(lambda r: r[:, :2].shape, spec([3, None, None], tf.int32))
    seen(lambda r: r[..., 0].shape, spec([3, None, 2], tf.int32, ragged_rank=1))
    seen(lambda r: r[tf.newaxis].shape, spec([3, None], tf.int32))
    seen(lambda r: r[:, tf.newaxis].shape, spec([3, None], tf.int32))
    seen(lambda r: r.row_lengths().shape, spec([3, None], tf.int32))
    seen(lambda r: r.row_lengths(axis=2).shape, spec([3, None, None], tf.int32))
    seen(lambda r: r.value_rowids().shape, spec([3, None], tf.int32))
    seen(lambda r: r.row_starts().shape, spec([3, None], tf.int32))
    seen(lambda r: r.nrows().shape, spec([3, None], tf.int32))
    seen(lambda r: tf.get_static_value(r.bounding_shape()), spec([3, None], tf.int32))
    seen(lambda r: r.bounding_shape().shape, spec([3, None, None], tf.int32))
    seen(lambda r: r.to_tensor().shape, spec([3, None, 2], tf.int32, ragged_rank=1))
    seen(lambda r: r.to_tensor().shape, spec([3, None], tf.int32))
    seen(lambda r: r.to_tensor(shape=[None, 7]).shape, spec([3, None], tf.int32))
    seen(lambda r: r.to_tensor(shape=[2, 7]).shape, spec([3, None], tf.int32))
    seen(lambda r: r.to_tensor(shape=None).shape, spec([3, None, None], tf.int32))
    seen(lambda r: r.to_sparse().shape, spec([3, None], tf.int32))
    seen(lambda r: r.to_sparse().values.shape, spec([3, None], tf.int32))
    seen(lambda r: (r + 1).shape, spec([3, None], tf.int32))
    seen(lambda r: (r + r).shape, spec([None, None], tf.int32))
    seen(lambda r: of(tf.concat([r, r], 0)), spec([3, None], tf.int32))
    seen(lambda r: of(tf.concat([r, r], 1)), spec([3, None], tf.int32))
    seen(lambda r: of(tf.stack([r, r], 0)), spec([3, None], tf.int32))
    seen(lambda r: of(tf.stack([r, r], 1)), spec([3, None], tf.int32))
    seen(lambda r: of(tf.expand_dims(r, 0)), spec([3, None], tf.int32))
    seen(lambda r: of(tf.expand_dims(r, 1)), spec([3, None], tf.int32))
    seen(lambda r: of(tf.expand_dims(r, 2)), spec([3, None], tf.int32))
    seen(lambda r: of(tf.tile(r, [2, 1])), spec([3, None], tf.int32))
    seen(lambda r: of(tf.tile(r, [1, 2])), spec([3, None], tf.int32))
    seen(lambda r: of(tf.reverse(r, [1])), spec([3, None], tf.int32))
    seen(lambda r: tf.reduce_sum(r, 1).shape, spec([3, None], tf.int32))
    seen(lambda r: tf.reduce_sum(r, 0).shape, spec([3, None], tf.int32))
    seen(lambda r: tf.reduce_sum(r, 1).shape, spec([3, None, 5], tf.int32, ragged_rank=1))
    seen(lambda r: tf.reduce_sum(r, 2).shape, spec([3, None, None], tf.int32))
    seen(lambda r: tf.reduce_sum(r, [1, 2]).shape, spec([3, None, None], tf.int32))
    seen(lambda r: tf.reduce_sum(r).shape, spec([3, None, None], tf.int32))
    seen(lambda r: tf.reduce_sum(r, 1, keepdims=True).shape, spec([3, None], tf.int32))
    seen(lambda r: of(tf.ragged.boolean_mask(r, r > 1)), spec([3, None], tf.int32))
    seen(lambda r: of(r.with_values(tf.cast(r.values, tf.float32))), spec([3, None], tf.int32))
    seen(lambda r: of(r.merge_dims(0, 1)) if isinstance(r.merge_dims(0, 1), tf.RaggedTensor) else r.merge_dims(0, 1).shape, spec([3, None], tf.int32))
    seen(lambda r: of(r.merge_dims(1, 2)), spec([3, None, None], tf.int32))
    seen(lambda r: of(tf.cast(r, tf.float32)), spec([3, None, None], tf.int32))
    seen(lambda t: of(tf.RaggedTensor.from_tensor(t)), tf.TensorSpec([3, None]))
    seen(lambda t: of(tf.RaggedTensor.from_tensor(t)), tf.TensorSpec([None, 4, 2]))
    seen(lambda t: of(tf.RaggedTensor.from_tensor(t, ragged_rank=2)), tf.TensorSpec([3, 4, 2]))
    seen(lambda t: of(tf.RaggedTensor.from_tensor(t, padding=0.0)), tf.TensorSpec([3, 4]))
    seen(lambda t: of(tf.RaggedTensor.from_tensor(t, lengths=[1, 2, 3])), tf.TensorSpec([3, 4]))
    seen(lambda v, s: of(tf.RaggedTensor.from_row_splits(v, s)), tf.TensorSpec([None]), tf.TensorSpec([5], tf.int64))
    seen(lambda v, s: of(tf.RaggedTensor.from_row_lengths(v, s)), tf.TensorSpec([None]), tf.TensorSpec([5], tf.int64))
    seen(lambda v, s: of(tf.RaggedTensor.from_value_rowids(v, s)), tf.TensorSpec([None]), tf.TensorSpec([5], tf.int64))
    seen(lambda v, s: of(tf.RaggedTensor.from_value_rowids(v, s, nrows=4)), tf.TensorSpec([None]), tf.TensorSpec([5], tf.int64))
    seen(lambda v, s: of(tf.RaggedTensor.from_row_starts(v, s)), tf.TensorSpec([None]), tf.TensorSpec([5], tf.int32))
    seen(lambda v, s: of(tf.RaggedTensor.from_row_limits(v, s)), tf.TensorSpec([9]), tf.TensorSpec([5], tf.int32))
    seen(lambda v: of(tf.RaggedTensor.from_uniform_row_length(v, 3)), tf.TensorSpec([9]))
    seen(lambda v: of(tf.RaggedTensor.from_uniform_row_length(v, 3)), tf.TensorSpec([None]))
    seen(lambda v: of(tf.RaggedTensor.from_uniform_row_length(v, 0, nrows=4)), tf.TensorSpec([0, 2]))
    """,
    globals(),
)
