"""Making tensors of ranks 0 to 4; what print, str and repr say; shape, rank, size, dtype."""
import numpy as np
import tensorflow as tf

rank_0 = tf.constant(4)
rank_1 = tf.constant([2.0, 3.0, 4.0])
rank_2 = tf.constant([[1, 2], [3, 4], [5, 6]], dtype=tf.float16)
rank_3 = tf.constant([[[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]],
                      [[10, 11, 12, 13, 14], [15, 16, 17, 18, 19]],
                      [[20, 21, 22, 23, 24], [25, 26, 27, 28, 29]]])
for t in (rank_0, rank_1, rank_2, rank_3):
    print(t)
    print(repr(t))
    print(t.shape, t.dtype, t.ndim, len(t.shape))

print(rank_2.numpy())
print(np.array(rank_2))
print(type(rank_2.numpy()), rank_2.numpy().dtype)

a = tf.constant([[1, 2], [3, 4]])
b = tf.ones([2, 2], dtype=tf.int32)
print(tf.add(a, b), "\n")
print(tf.multiply(a, b), "\n")
print(tf.matmul(a, b), "\n")
print(a + b, "\n")
print(a * b, "\n")
print(a @ b, "\n")

c = tf.constant([[4.0, 5.0], [10.0, 1.0]])
print(tf.reduce_max(c))
print(tf.math.argmax(c))
print(tf.argmin(c, axis=1))
print(tf.nn.softmax(c))
print(tf.convert_to_tensor([1, 2, 3]))
print(tf.reduce_max([1, 2, 3]))
print(tf.reduce_max(np.array([1, 2, 3])))

z = tf.zeros([3, 2, 4, 5])
print("Type of every element:", z.dtype)
print("Number of axes:", z.ndim)
print("Shape of tensor:", z.shape)
print("Elements along axis 0 of tensor:", z.shape[0])
print("Elements along the last axis of tensor:", z.shape[-1])
print("Total number of elements (3*2*4*5): ", tf.size(z).numpy())
print(tf.rank(z))
print(tf.shape(z))
print(len(rank_3), bool(tf.constant(1)), int(rank_0), float(rank_0))
print([int(x) for x in tf.constant([7, 8, 9])])
print(f"{rank_0} {rank_1}", "%d" % rank_0)
print(hasattr(rank_0, "__array__"), isinstance(rank_0, tf.Tensor), tf.is_tensor(rank_0), tf.is_tensor(3))
