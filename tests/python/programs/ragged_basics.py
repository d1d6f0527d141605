"""Ragged tensors: constants, printing, shape, arithmetic, reductions, concat, tile, map_flat_values, to_list."""
import tensorflow as tf

digits = tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
words = tf.ragged.constant([["So", "long"], ["thanks", "for", "all", "the", "fish"]])
print(digits)
print(repr(digits))
print(words)
print(tf.add(digits, 3))
print(tf.reduce_mean(digits, axis=1))
print(tf.concat([digits, [[5, 3]]], axis=0))
print(tf.tile(digits, [1, 2]))
print(tf.strings.substr(words, 0, 2))
print(tf.map_fn(tf.math.square, digits))
print(digits[0])
print(digits[:, :2])
print(digits[:, -2:])
print(digits + 3)
print(digits + tf.ragged.constant([[1, 2, 3, 4], [], [5, 6, 7], [8], []]))
times_two_plus_one = lambda x: x * 2 + 1
print(tf.ragged.map_flat_values(times_two_plus_one, digits))
print(digits.to_list())
print(digits.numpy())
print(digits.shape, digits.ragged_rank, digits.dtype, digits.nrows().numpy(), digits.row_lengths().numpy())
print(digits.values, digits.row_splits, digits.flat_values)
print(digits.bounding_shape(), tf.shape(digits), tf.rank(digits), tf.size(digits))
sentences = tf.ragged.constant([["Let's", "build", "some", "ragged", "tensors", "!"],
                                ["We", "can", "use", "tf.ragged.constant", "."]])
paragraphs = tf.ragged.constant([[["I", "have", "a", "cat"], ["His", "name", "is", "Mat"]],
                                 [["Do", "you", "want"], ["I'm", "free"]]])
print(sentences)
print(paragraphs, paragraphs.shape, paragraphs.ragged_rank)
x = tf.ragged.constant([[1.0, 2.0], [3.0]])
y = tf.ragged.constant([[1.0, 1.0], [2.0]])
print(x + y, x * y, x > y, -x, abs(x), x / 2, x**2, tf.sqrt(x), tf.cast(x, tf.int32), x == y)
print(tf.reduce_sum(digits, axis=0), tf.reduce_sum(digits), tf.reduce_max(x, axis=1), tf.reduce_any(x > 2, axis=1))
print(tf.strings.join(["[", words, "]"]))
for row in digits:
    print(row.numpy())
try:
    tf.ragged.constant([["one", "two"], [3, 4]])
except Exception as e:
    print(type(e).__name__, e)
try:
    tf.ragged.constant(["A", ["B", "C"]])
except ValueError as e:
    print(e)
try:
    x + tf.ragged.constant([[1.0], [2.0, 3.0]])
except tf.errors.InvalidArgumentError as e:
    print(type(e).__name__, e.message.splitlines()[0])
