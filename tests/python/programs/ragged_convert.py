"""Ragged to and from dense, sparse, Python, numpy; in functions; specs; datasets; Examples."""
import numpy as np
import tensorflow as tf

ragged = tf.ragged.constant([["Hi"], ["Welcome", "to", "the", "fair"], ["Have", "fun"]])
print(ragged.to_tensor(default_value="", shape=[None, 10]))
print(ragged.to_sparse())
print(tf.sparse.to_dense(ragged.to_sparse()))
x = [[1, 3, -1, -1], [2, -1, -1, -1], [4, 5, 8, 9]]
print(tf.RaggedTensor.from_tensor(x, padding=-1))
rt = tf.ragged.constant([[1, 2], [3, 4, 5], [6], [], [7]])
print("Python list:", rt.to_list())
print("NumPy array:", rt.numpy())
print("Values:", rt.values.numpy(), "Splits:", rt.row_splits.numpy(), "eager value:", rt[1].numpy())
print(tf.ragged.constant([[1, 2], [3, 4]]).numpy(), np.array([[1, 2], [3]], dtype=object).shape)


@tf.function
def make_palindrome(x, axis):
    return tf.concat([x, tf.reverse(x, [axis])], axis)


print(make_palindrome(tf.constant([[1, 2], [3, 4], [5, 6]]), axis=1))
print(make_palindrome(tf.ragged.constant([[1, 2], [3], [4, 5, 6]]), axis=1))


@tf.function(input_signature=[tf.RaggedTensorSpec(shape=[None, None], dtype=tf.int32)])
def max_and_min(rt):
    print(rt)
    return (tf.math.reduce_max(rt, axis=-1), tf.math.reduce_min(rt, axis=-1))


print(max_and_min(tf.ragged.constant([[1, 2], [3], [4, 5, 6]])))


@tf.function
def increment(x):
    return x + 1


rt = tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
cf = increment.get_concrete_function(rt)
print(cf(rt))
spec = tf.RaggedTensorSpec([2, None], tf.int32, ragged_rank=1)
print(spec, spec.shape, spec.dtype, spec.ragged_rank, spec.row_splits_dtype, tf.type_spec_from_value(rt))
print(tf.RaggedTensorSpec.from_value(rt) == tf.type_spec_from_value(rt), spec.is_compatible_with(rt))
queries = tf.ragged.constant([["Who"], ["What", "is"], ["Good", "night", "moon"], []])
dataset = tf.data.Dataset.from_tensor_slices(queries)
for element in dataset:
    print(element)
print(dataset.element_spec)
for element in dataset.batch(3):
    print(element)
for element in dataset.batch(2).map(lambda r: tf.strings.length(r)).unbatch():
    print(element.numpy())
print(next(iter(tf.data.Dataset.from_tensor_slices(tf.range(4)).map(tf.range).ragged_batch(4))))
print(tf.nest.flatten({"a": rt}, expand_composites=True))
print(tf.convert_to_tensor(tf.ragged.constant([[1, 2], [3, 4]]).to_tensor()), isinstance(rt, tf.RaggedTensor),
      tf.is_tensor(rt))
try:
    tf.convert_to_tensor(rt)
except Exception as e:
    print(type(e).__name__)
