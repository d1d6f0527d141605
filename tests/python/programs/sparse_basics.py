"""Sparse tensors: making, printing, adding, products, concat, slice, transpose, reduce, map_values, reset_shape."""
import tensorflow as tf

st1 = tf.sparse.SparseTensor(indices=[[0, 3], [2, 4]], values=[10, 20], dense_shape=[3, 10])
print(st1)
st2 = tf.SparseTensor(indices=[[0, 2], [3, 4], [3, 8]], values=[31, 2, 5], dense_shape=[4, 10])


def pprint_sparse_tensor(st):
    s = "<SparseTensor shape=%s \n values={" % (st.dense_shape.numpy().tolist(),)
    for index, value in zip(st.indices, st.values):
        s += "\n  %s: %s" % (index.numpy().tolist(), value.numpy().tolist())
    return s + "}>"


print(pprint_sparse_tensor(st2))
st3 = tf.sparse.from_dense([[1, 0, 0, 8], [0, 0, 0, 0], [0, 0, 3, 0]])
print(pprint_sparse_tensor(st3))
print(st3.shape, st3.dtype, st3.get_shape(), st3.indices.shape)
print(tf.sparse.to_dense(st3))
print(tf.sparse.to_dense(st3, default_value=-1))
st_a = tf.sparse.SparseTensor(indices=[[0, 2], [3, 4]], values=[31, 2], dense_shape=[4, 10])
st_b = tf.sparse.SparseTensor(indices=[[0, 2], [3, 0]], values=[56, 38], dense_shape=[4, 10])
print(pprint_sparse_tensor(tf.sparse.add(st_a, st_b)))
mb = tf.constant([[6], [7], [4], [8]])
st_c = tf.sparse.SparseTensor(indices=([0, 1], [1, 0], [1, 1]), values=[13, 15, 17], dense_shape=(2, 2))
print(tf.sparse.sparse_dense_matmul(st_c, tf.constant([[4], [6]])))
sparse_pattern_A = tf.sparse.SparseTensor(indices=[[2, 4], [3, 3], [3, 4], [4, 3], [4, 4], [5, 4]],
                                          values=[1, 1, 1, 1, 1, 1], dense_shape=[8, 5])
sparse_pattern_B = tf.sparse.SparseTensor(indices=[[0, 2], [1, 1], [1, 3], [2, 0], [2, 4], [2, 5], [3, 5], [4, 5],
                                                   [5, 0], [5, 4], [5, 5], [6, 1], [6, 3], [7, 2]],
                                          values=[1] * 14, dense_shape=[8, 6])
both = tf.sparse.concat(axis=1, sp_inputs=[sparse_pattern_A, sparse_pattern_B])
print(tf.sparse.to_dense(both))
print(tf.sparse.to_dense(tf.sparse.slice(sparse_pattern_B, start=[2, 3], size=[4, 3])))
print(tf.sparse.to_dense(tf.sparse.map_values(tf.add, tf.sparse.map_values(tf.multiply, st3, 10), 5)))
print(pprint_sparse_tensor(tf.sparse.transpose(st3)))
print(tf.sparse.reduce_sum(st3), tf.sparse.reduce_sum(st3, axis=1), tf.sparse.reduce_max(st3, axis=0),
      tf.sparse.reduce_sum(st3, axis=[1], keepdims=True))
unordered = tf.SparseTensor([[1, 1], [0, 0]], [2.0, 1.0], [2, 2])
print(tf.sparse.reorder(unordered).indices, tf.sparse.eye(2).values, tf.sparse.expand_dims(st3, 0).shape,
      tf.sparse.reshape(st3, [2, 6]).indices)
print(tf.sparse.reset_shape(st3, [4, 5]).shape, tf.sparse.retain(st3, [True, False, True]).values,
      tf.sparse.split(st3, 2, axis=1)[1])
print(tf.sparse.fill_empty_rows(st3, 0), tf.sparse.mask(tf.IndexedSlices([[1], [2]], [0, 1]), [0]).values)
print(tf.sparse.maximum(unordered, unordered).values, tf.sparse.minimum(unordered, unordered).values,
      tf.sparse.softmax(tf.sparse.reorder(unordered)).values)
try:
    print(tf.sparse.to_dense(tf.SparseTensor([[1, 1], [0, 0]], [2.0, 1.0], [2, 2])))
except tf.errors.InvalidArgumentError as e:
    print(e.message)
try:
    tf.SparseTensor([[0, 0]], [1], [2])
except ValueError as e:
    print(e)
