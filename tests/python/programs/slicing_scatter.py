"""Inserting data: scatter_nd, tensor_scatter_nd_* in all forms, IndexedSlices, duplicates, slices, errors."""
import tensorflow as tf

t6 = tf.constant([10])
indices = tf.constant([[1], [3], [5], [7], [9]])
data = tf.constant([2, 4, 6, 8, 10])
print(tf.scatter_nd(indices=indices, updates=data, shape=t6))
t2 = tf.constant([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14], [15, 16, 17, 18, 19]])
new_indices = tf.constant([[0, 2], [2, 1], [3, 3]])
t7 = tf.gather_nd(t2, indices=new_indices)
t8 = tf.scatter_nd(indices=new_indices, updates=t7, shape=tf.constant([4, 5]))
print(t8)
t9 = tf.SparseTensor(indices=[[0, 2], [2, 1], [3, 3]], values=[2, 11, 18], dense_shape=[4, 5])
print(tf.math.equal(tf.sparse.to_dense(t9), t8).numpy().all())
t11 = tf.constant([[2, 7, 0], [9, 0, 1], [0, 3, 8]])
t12 = tf.tensor_scatter_nd_add(t11, indices=[[0, 2], [1, 1], [2, 0]], updates=[6, 5, 4])
print(t12)
t13 = tf.tensor_scatter_nd_sub(t11, indices=[[0, 0], [0, 1], [1, 0], [1, 2], [2, 1], [2, 2]],
                               updates=[1, 6, 8, 0, 2, 7])
print(t13)
t14 = tf.constant([[-2, -7, 0], [-9, 0, 1], [0, -3, -8]])
print(tf.tensor_scatter_nd_min(t14, indices=[[0, 2], [1, 1], [2, 0]], updates=[-6, -5, -4]))
print(tf.tensor_scatter_nd_max(t14, indices=[[0, 2], [1, 1], [2, 0]], updates=[6, 5, 4]))
print(tf.tensor_scatter_nd_update(tf.zeros([4, 3]), [[1], [3]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
print(tf.scatter_nd([[0], [0], [1]], [1, 2, 5], [3]), tf.tensor_scatter_nd_add(tf.ones([3]), [[1], [1]], [5.0, 6.0]))
print(tf.scatter_nd([[0], [2]], tf.ones([2, 2, 2]), [3, 2, 2])[:, 0])
print(tf.tensor_scatter_nd_update(["a", "b", "c"], [[1]], ["x"]))
x = tf.Variable([1.0, 2.0, 3.0])
u = tf.Variable([10.0, 20.0])
with tf.GradientTape() as tape:
    y = tf.tensor_scatter_nd_update(x, [[0], [2]], u) ** 2
print(tape.gradient(y, [x, u]))
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.scatter_nd([[1], [4]], u, [6]) * tf.range(6.0))
print(tape.gradient(y, u))
print(tf.math.unsorted_segment_sum([5, 6, 7], [0, 2, 0], 3), tf.math.segment_mean([1.0, 2.0, 6.0], [0, 0, 1]),
      tf.math.unsorted_segment_max([1, 4, 2], [0, 0, 1], 2))
for bad in (lambda: tf.scatter_nd([[5]], [1], [3]),
            lambda: tf.tensor_scatter_nd_update(tf.zeros([2]), [[0]], [1.0, 2.0]),
            lambda: tf.tensor_scatter_nd_add(tf.zeros([2]), [[0]], [1]),
            lambda: tf.tensor_scatter_nd_update(tf.zeros([2]), [[3]], [1.0])):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
