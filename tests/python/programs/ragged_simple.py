"""Ragged tensors, first steps: make, look, add, sum, slice, pad."""
import tensorflow as tf

rt = tf.ragged.constant([[1, 2, 3], [], [4, 5]])
print(rt)
print(rt.shape, rt.row_lengths().numpy(), rt.nrows().numpy())
print(rt[0], rt[2, 1].numpy(), rt[:, :1])
print(rt + 10, rt * rt)
print(tf.reduce_sum(rt, axis=1), tf.reduce_max(rt).numpy(), tf.reduce_sum(rt).numpy())
print(rt.to_tensor(), rt.to_tensor(default_value=-1))
print(rt.to_list(), rt.flat_values.numpy(), rt.row_splits.numpy())
for row in rt:
    print(row.numpy())
s = tf.ragged.constant([["a", "bb"], ["ccc"]])
print(s, tf.strings.length(s), tf.strings.upper(s))
print(tf.concat([rt, tf.ragged.constant([[9], [8], [7]])], axis=1))
print(tf.RaggedTensor.from_row_lengths([1, 2, 3, 4], [1, 0, 3]))
print(tf.RaggedTensor.from_tensor([[1, 0, 0], [2, 3, 0]], padding=0))
words = tf.strings.split(["hello world", "a b c"])
print(words, words.shape, words.dtype)


@tf.function
def total(r):
    return tf.reduce_sum(r, axis=1)


print(total(rt), total(tf.ragged.constant([[1], [2, 3]])))
print(tf.ragged.range([2, 0, 3]), tf.ragged.stack([[1, 2], [3]]))
nested = tf.ragged.constant([[[1], [2, 3]], [[4, 5, 6]]])
print(nested, nested.shape, nested[0], nested.ragged_rank)
print(tf.cast(rt, tf.float32) / 2.0, tf.where(rt > 2, rt, 0 * rt), rt == 2)
