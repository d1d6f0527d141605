"""Sparse tensors, first steps: make, look, to dense and back, multiply, add."""
import tensorflow as tf

st = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1.0, 2.0], dense_shape=[3, 4])
print(st)
print(st.shape, st.dtype, st.indices.numpy().tolist(), st.values.numpy(), st.dense_shape.numpy())
print(tf.sparse.to_dense(st))
back = tf.sparse.from_dense([[0, 5], [6, 0]])
print(back.indices.numpy().tolist(), back.values.numpy())
print(tf.sparse.sparse_dense_matmul(st, tf.ones([4, 2])))
print(tf.sparse.to_dense(tf.sparse.add(st, st)))
print(tf.sparse.reduce_sum(st).numpy(), tf.sparse.reduce_sum(st, 0).numpy())
print(tf.sparse.to_dense(tf.sparse.transpose(st)).shape)
scaled = tf.sparse.map_values(tf.multiply, st, 10.0)
print(scaled.values.numpy())
print(tf.sparse.slice(st, [0, 0], [2, 3]).indices.numpy().tolist())
joined = tf.sparse.concat(0, [st, st])
print(joined.shape, tf.sparse.to_dense(joined).numpy().sum())


@tf.function
def product(s, d):
    return tf.sparse.sparse_dense_matmul(s, d)


print(product(st, tf.eye(4)))
w = tf.Variable(tf.ones([4, 1]))
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.sparse.sparse_dense_matmul(st, w))
print(tape.gradient(y, w))
print(tf.sparse.reorder(tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2])).indices.numpy().tolist())
