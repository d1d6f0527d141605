"""Operators of blocks whose batches differ: shapes, dense matrices, products and solutions."""

import tensorflow as tf

linalg = tf.linalg


def matrix(*shape):
    size = 1
    for s in shape:
        size *= s
    return tf.reshape(tf.range(size, dtype=tf.float32), shape) / 10.0 + 3.0 * tf.eye(shape[-2], shape[-1])


full = linalg.LinearOperatorFullMatrix
plain, batch, wide = full(matrix(2, 2)), full(matrix(3, 1, 1)), full(matrix(2, 1, 2, 2))
cases = {
    "lower": linalg.LinearOperatorBlockLowerTriangular([[plain], [full(matrix(3, 1, 2)), batch]]),
    "lower two batches": linalg.LinearOperatorBlockLowerTriangular([[wide], [full(matrix(1, 2)), batch]]),
    "diagonal": linalg.LinearOperatorBlockDiag([plain, batch, wide]),
    "kronecker": linalg.LinearOperatorKronecker([plain, batch, wide]),
}
for name, operator in cases.items():
    dense = operator.to_dense()
    x = tf.ones(operator.batch_shape.as_list() + [operator.shape[-1], 1])
    print(name, operator.shape, operator.batch_shape, operator.domain_dimension, operator.tensor_rank)
    print("  dense", dense.shape, round(float(tf.reduce_sum(dense)), 4))
    print("  product", tf.round(tf.reduce_sum(operator.matmul(x), [-1, -2]) * 1000).numpy().tolist())
    print("  solution", tf.round(tf.reduce_sum(operator.solve(x), [-1, -2]) * 1000).numpy().tolist())


@tf.function(input_signature=[tf.TensorSpec([None, 1, 1], tf.float32)])
def unknown_batch(block):
    operator = linalg.LinearOperatorBlockLowerTriangular([[plain], [full(matrix(1, 2)), full(block)]])
    print("traced", operator.shape)
    return operator.to_dense()


print(unknown_batch(matrix(3, 1, 1)).shape)
