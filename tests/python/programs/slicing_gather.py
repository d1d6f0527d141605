"""Extracting parts: tf.slice, gather, gather_nd, strided slices, boolean masks, batch_dims, dynamic indices."""
import tensorflow as tf

t1 = tf.constant([0, 1, 2, 3, 4, 5, 6, 7])
print(tf.slice(t1, begin=[1], size=[3]), t1[1:4], t1[-3:])
t2 = tf.constant([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14], [15, 16, 17, 18, 19]])
print(t2[:-1, 1:3])
t3 = tf.constant([[[1, 3, 5, 7], [9, 11, 13, 15]], [[17, 19, 21, 23], [25, 27, 29, 31]]])
print(tf.slice(t3, begin=[1, 1, 0], size=[1, 1, 2]))
print(tf.slice(t3, [0, 1, 1], [-1, -1, 2]))
print(tf.gather(t1, indices=[0, 3, 6]))
print(t1[::3])
alphabet = tf.constant(list("abcdefghijklmnopqrstuvwxyz"))
print(tf.gather(alphabet, indices=[2, 0, 19, 18]))
t4 = tf.constant([[0, 5], [1, 6], [2, 7], [3, 8], [4, 9]])
print(tf.gather_nd(t4, indices=[[2], [3], [0]]))
t5 = tf.reshape(tf.range(18), [2, 3, 3])
print(tf.gather_nd(t5, indices=[[0, 0, 0], [1, 2, 1]]))
print(tf.gather_nd(t5, indices=[[[0, 0], [0, 2]], [[1, 0], [1, 2]]]))
print(tf.gather(t5, [2, 0], axis=1), tf.gather(t5, 1, axis=2), tf.gather(t5, [[0, 1], [2, 2]], axis=-1).shape)
print(tf.gather(t2, [[0, 1], [2, 3], [4, 4], [0, 0]], batch_dims=1), tf.gather(t5, [[0], [2]], axis=2, batch_dims=1))
print(tf.gather_nd(t5, [[[0]], [[2]]], batch_dims=1))
print(tf.strided_slice(t2, [0, 4], [4, 0], [2, -2]), tf.strided_slice(t5, [0], [1]),
      tf.strided_slice(t2, [1, 0], [2, 3], shrink_axis_mask=1))
print(tf.strided_slice(t2, [0, 1], [0, 3], begin_mask=1, end_mask=1),
      tf.strided_slice(t1, [0], [1], new_axis_mask=1).shape)
print(tf.boolean_mask(t2, [True, False, False, True]), tf.boolean_mask(t2, t2 % 5 == 0),
      tf.boolean_mask(t5, [[True, False, True], [False, True, False]]))
print(tf.boolean_mask(t2, [True, False, True, False, False], axis=1))
print(tf.where(t1 > 3), tf.where([True, False], [1, 2], [3, 4]), tf.where(t2 > 16))
print(tf.experimental.numpy.take_along_axis(t2, tf.argsort(t2, axis=1, direction="DESCENDING"), 1)[0])
print(tf.dynamic_partition(t1, [0, 1, 0, 1, 2, 2, 0, 0], 3), tf.dynamic_stitch([[0, 2], [1, 3]], [[10, 30], [20, 40]]))
print(tf.unique([3, 1, 3, 2]), tf.unique_with_counts(["a", "b", "a"]), tf.searchsorted([1, 3, 5], [0, 3, 6]),
      tf.searchsorted([1, 3, 5], [3], side="right"))


@tf.function
def dynamic(x, i, n):
    return x[i:i + n], x[i], tf.slice(x, [i], [n]), tf.gather(x, [i, n])


print(dynamic(t1, tf.constant(2), tf.constant(3)))
for bad in (lambda: tf.gather(t1, [9]), lambda: tf.gather_nd(t5, [[2, 0]]), lambda: tf.slice(t1, [5], [9]),
            lambda: tf.gather(t1, [0.5]),
            lambda: tf.gather_nd(t1, [[0, 1]]), lambda: tf.boolean_mask(t1, [True])):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
