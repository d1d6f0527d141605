"""Sparse tensors in functions, gradients, datasets, conversions and other operations."""
import tensorflow as tf


@tf.function
def f(x, y):
    return tf.sparse.sparse_dense_matmul(x, y)


a = tf.sparse.SparseTensor(indices=[[0, 3], [2, 4]], values=[15, 25], dense_shape=[3, 10])
b = tf.sparse.to_dense(tf.sparse.transpose(a))
print(f(a, b))


@tf.function
def scale(s, k):
    print(s)
    return tf.SparseTensor(s.indices, s.values * k, s.dense_shape)


print(scale(a, 2))
spec = tf.SparseTensorSpec([None, 10], tf.int32)
print(spec, tf.type_spec_from_value(a), spec.is_compatible_with(a), spec.shape, spec.dtype)


@tf.function(input_signature=[spec])
def total(s):
    return tf.sparse.reduce_sum(s)


print(total(a).numpy())
values = tf.Variable([1.0, 2.0, 3.0])
dense = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    s = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], values, [2, 2])
    y = tf.reduce_sum(tf.sparse.sparse_dense_matmul(s, dense) ** 2)
print(tape.gradient(y, values))
ds = tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense([[1, 0, 2], [0, 0, 0], [3, 4, 0]]))
for element in ds:
    print(tf.sparse.to_dense(element).numpy(), element.dense_shape.numpy())
print(ds.element_spec)
for batch in ds.batch(2):
    print(tf.sparse.to_dense(batch).numpy())
print(tf.sparse.to_dense(tf.sparse.cross([tf.sparse.from_dense([["a"]]), tf.sparse.from_dense([["b"]])])))
print(tf.sparse.bincount([1, 1, 2, 5]), tf.sparse.segment_sum(dense, [0, 1, 1], [0, 0, 1]),
      tf.sparse.segment_mean(dense, [0, 1], [0, 0]))
indicator = tf.sparse.to_indicator(tf.sparse.SparseTensor([[0, 0], [1, 0]], [2, 0], [2, 1]), 4)
print(indicator)
print(tf.sparse.to_dense(a * 2), a.with_values([1, 2]).values)
print(tf.nest.flatten(a, expand_composites=True)[1], isinstance(a, tf.SparseTensor), tf.is_tensor(a))
print(tf.nn.embedding_lookup_sparse(tf.constant([[1.0], [2.0], [3.0]]),
                                    tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 2, 1], [2, 2]), None, combiner="sum"))
print(tf.nn.safe_embedding_lookup_sparse(tf.constant([[1.0], [2.0]]), tf.SparseTensor([[0, 0]], [1], [2, 1])))
print(tf.sets.size(tf.sparse.from_dense([[1, 2], [3, 0]])), tf.strings.to_number(tf.constant(["1", "2"])))
print(tf.compat.v1.sparse_to_dense([[0, 1], [1, 0]], [2, 2], [5, 6]),
      tf.linalg.matmul(tf.constant([[0.0, 1.0], [0.0, 0.0]]), dense, a_is_sparse=True))
print(tf.sparse.to_dense(tf.sparse.map_values(tf.strings.upper, tf.sparse.from_dense([["a", ""]]))))
print(tf.SparseTensor.from_value(tf.compat.v1.SparseTensorValue([[0, 0]], [7], [1, 1])).values)
