"""A tour of matrices: shapes, products, slices, sums, as a beginner types them."""
import tensorflow as tf

A = tf.constant([[1, 2, 3], [4, 5, 6]])
B = tf.transpose(A)
print("A =", A)
print("shape:", A.shape, "rank:", tf.rank(A).numpy(), "size:", tf.size(A).numpy())
print("transpose:\n", B.numpy())
print("A @ B:\n", (A @ B).numpy())
print("A * A:\n", (A * A).numpy())
print("row sums:", tf.reduce_sum(A, axis=1).numpy())
print("column means:", tf.reduce_mean(tf.cast(A, tf.float32), axis=0).numpy())
print("second column:", A[:, 1].numpy())
print("last row:", A[-1].numpy())
print("flat:", tf.reshape(A, [-1]).numpy())
print("stacked:", tf.stack([A, A]).shape, "joined:", tf.concat([A, A], axis=1).shape)
print("max:", tf.reduce_max(A).numpy(), "where:", tf.argmax(tf.reshape(A, [-1])).numpy())
print("even:", tf.boolean_mask(A, A % 2 == 0).numpy())
print("identity:\n", tf.eye(3, dtype=tf.int32).numpy())
print("A is", "big" if tf.reduce_sum(A) > 10 else "small")
for i, row in enumerate(A):
    print("row", i, row)
for x in tf.range(3):
    print(x.numpy() ** 2, end=" ")
print()
print("float:", tf.cast(A, tf.float32) / 2)
print("broadcast:", A + tf.constant([10, 20, 30]))
