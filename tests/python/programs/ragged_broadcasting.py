"""Broadcasting between ragged and dense tensors; dot products; softmax; gradients through ragged tensors."""
import tensorflow as tf

x = tf.ragged.constant([[1, 2], [3]])
print(x + 3)
x = tf.ragged.constant([[10, 87, 12], [19, 53], [12, 32]])
y = [[1000], [2000], [3000]]
print(x + y)
x = tf.ragged.constant([[[1, 2], [3, 4], [5, 6]], [[7, 8]]], ragged_rank=1)
y = tf.constant([[10]])
print(x + y)
x = tf.ragged.constant([[[[1], [2]], [], [[3]], [[4]]], [[[5], [6]], [[7]]]], ragged_rank=2)
y = tf.constant([10, 20, 30])
print(x + y)
x = tf.ragged.constant([[1, 2], [3, 4, 5, 6], [7]])
y = tf.constant([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
try:
    x + y
except tf.errors.InvalidArgumentError as e:
    print(type(e).__name__)
f = tf.ragged.constant([[1.0, 2.0, 3.0], [], [4.0]])
print(tf.nn.softmax(f), tf.nn.relu(f - 2.0), tf.where(f > 1.5, f, 0.0 * f), tf.math.reduce_variance(f, axis=1))
print(tf.matmul(tf.ragged.constant([[[1.0], [2.0]], [[3.0]]]), tf.ragged.constant([[[1.0, 2.0]], [[3.0, 4.0]]])))
print(tf.reduce_prod(f, axis=1), tf.reduce_min(f, axis=0), tf.reduce_mean(f, axis=0))
print(tf.concat([f, f], axis=1), tf.stack([f, f]), tf.stack([f, f], axis=1).shape, f.nrows())
print(tf.sort(tf.ragged.constant([[3, 1, 2], [5, 4]]).to_tensor()), tf.one_hot(tf.ragged.constant([[0], [1, 2]]), 3))
v = tf.Variable([1.0, 2.0, 3.0, 4.0])
with tf.GradientTape() as tape:
    r = tf.RaggedTensor.from_row_splits(v, [0, 1, 1, 4])
    loss = tf.reduce_sum(tf.reduce_sum(r * r, axis=1) * [1.0, 2.0, 3.0])
print(loss.numpy(), tape.gradient(loss, v).numpy())
table = tf.reshape(tf.range(10.0), [5, 2])
ids = tf.ragged.constant([[0, 2], [], [4, 4, 1]])
embedded = tf.nn.embedding_lookup(table, ids)
print(embedded, embedded.shape, tf.reduce_mean(embedded, axis=1))
print(tf.gather(table, ids).to_list())
print(tf.ragged.constant([[1, 2], [3]]) == tf.ragged.constant([[1, 0], [3]]), tf.ragged.constant([[1], [2]]) == 2)
print(tf.squeeze(tf.ragged.constant([[[1, 2]], [[3]]], ragged_rank=2), 1), tf.size(ids), tf.rank(ids), tf.identity(ids),
      tf.ones_like(ids), tf.zeros_like(f))
print(tf.map_fn(tf.reduce_sum, ids, fn_output_signature=tf.int32),
      tf.map_fn(lambda t: t[:1], ids, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32)))
print(tf.strings.format("{}", tf.constant([1, 2])), tf.strings.length(tf.ragged.constant([["a", "bcd"], ["ef"]])))
