"""Sparse tensors, linear algebra and networks, part 2."""

import tensorflow as tf
from calls import show, shown

st = tf.sparse.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
show(lambda: tf.sparse.segment_sum(tf.ones([3, 2]), [0, 1], [0, 0]))
show(lambda: tf.sparse.segment_mean(tf.ones([3, 2]), [0, 1], [0, 0]))
show(lambda: tf.sparse.from_dense(3))
show(lambda: tf.sparse.bincount([1, 1, 2]))
show(lambda: tf.cast(st, tf.float32).dtype)
show(lambda: tf.shape(st))
show(lambda: tf.size(st))
show(lambda: tf.rank(st))
show(lambda: tf.identity(st).dense_shape)
show(lambda: tf.reduce_sum(st))
show(lambda: tf.add(st, 1))
show(lambda: tf.abs(st))
show(lambda: tf.sign(st))
show(lambda: tf.concat([st, st], 0))
show(lambda: tf.convert_to_tensor(st))
show(lambda: tf.constant(st))


@tf.function
def f(x):
    return tf.sparse.to_dense(x), x.shape


show(lambda: f(st))
show(lambda: st.with_values([5, 6]))
show(lambda: st.with_values([1]))
show(lambda: st.set_shape([3, 4]))
show(lambda: st.set_shape([2, 4]))
show(lambda: st.foo)
with shown():
    st.values = 3
show(lambda: tf.linalg.matvec([[1.0, 2.0]], [3.0]))
show(lambda: tf.linalg.cross([1.0, 2.0], [1.0, 2.0]))
show(lambda: tf.linalg.band_part([1], 0, 0))
show(lambda: tf.linalg.svd([1.0]))
show(lambda: tf.linalg.qr([["a"]]))
show(lambda: tf.linalg.diag_part([1]))
show(lambda: tf.linalg.tensor_diag_part([1]))
show(lambda: tf.linalg.cholesky([[1, 2], [3, 4]]))
show(lambda: tf.linalg.triangular_solve([[0.0, 0.0], [2.0, 3.0]], [[1.0], [2.0]]))
show(lambda: tf.linalg.LinearOperatorDiag([1.0, 2.0]))
op = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
show(lambda: op.matmul([[1.0]]))
show(lambda: tf.linalg.LinearOperatorDiag([1.0, 2.0]) @ op)
show(lambda: tf.linalg.LinearOperatorIdentity(2))
show(lambda: tf.linalg.LinearOperatorScaledIdentity(2, 3.0).to_dense())
show(lambda: tf.linalg.LinearOperatorLowerTriangular([[1.0, 9.0], [2.0, 3.0]]).to_dense())
show(lambda: tf.nn.relu("a"))
show(lambda: tf.nn.relu(True))
show(lambda: tf.nn.softmax([1, 2]))
show(lambda: tf.nn.softmax([1.0, 2.0], axis=3))
show(lambda: tf.nn.softmax("a"))
show(lambda: tf.nn.bias_add([[1.0, 2.0]], [1.0]))
show(lambda: tf.nn.bias_add([1.0], [1.0]))
show(lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=[[1.0, 2.0], [3.0, 4.0]]))
show(lambda: tf.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[1.0, 2.0]]))
show(lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.5]))
show(lambda: tf.nn.weighted_cross_entropy_with_logits([1.0], [0.5], 2.0))
show(lambda: tf.nn.log_poisson_loss([1.0], [0.5]))
show(lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 5], logits=[[1.0, 2.0], [3.0, 4.0]]))
show(lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=[[1.0, 2.0], [3.0, 4.0]]))
show(lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([0], [[1.0, 2.0]]))
show(lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[0]], logits=[[1.0, 2.0]]))
