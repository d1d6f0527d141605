"""v1 forms of functions, called eagerly and in graphs: their own argument names and defaults."""
import tensorflow as tf

v1 = tf.compat.v1
print(v1.map_fn(lambda x: x * 2, tf.range(3)), v1.foldl(lambda a, x: a + x, tf.range(4)),
      v1.foldr(lambda a, x: a - x, tf.range(4)), v1.scan(lambda a, x: a + x, tf.range(4)))
print(v1.cond(tf.constant(True), lambda: 1, lambda: 2),
      v1.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]), v1.case([(tf.constant(True), lambda: 5)]))
print(v1.gather([10, 20, 30], [2, 0]), v1.gather_nd([[1, 2], [3, 4]], [[1, 0]]),
      v1.boolean_mask([1, 2, 3], [True, False, True]), v1.pad([[1]], [[1, 0], [0, 1]]))
image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
kernel = tf.ones([2, 2, 1, 1])
print(v1.nn.convolution(image, kernel, "VALID")[0, ..., 0],
      v1.nn.avg_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")[0, ..., 0])
print(v1.nn.conv2d_transpose(tf.ones([1, 2, 2, 1]), kernel, [1, 4, 4, 1], [1, 2, 2, 1]).shape,
      v1.math.in_top_k([[0.1, 0.9]], [1], 1), v1.nn.conv2d(image, kernel, [1, 1, 1, 1], "SAME").shape)
print(v1.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=0), v1.reduce_max([[1, 2]], reduction_indices=[1], keep_dims=True),
      v1.reduce_logsumexp([0.0, 0.0]), v1.count_nonzero([0, 1]))
print(v1.expand_dims([1, 2], axis=0), v1.concat([[1], [2]], 0), v1.strided_slice([1, 2, 3], [0], [2]),
      v1.transpose([[1, 2]], conjugate=False), v1.ones_like([1]), v1.zeros_like([1.5]))
print(v1.sparse_concat(0, [tf.sparse.from_dense([[1]]), tf.sparse.from_dense([[2]])]).values,
      v1.matrix_inverse([[2.0]]), v1.matrix_diag([1, 2]), v1.cholesky([[4.0]]), v1.is_nan([1.0]))
print(v1.cumsum([1, 2]), v1.segment_sum([1, 2], [0, 0]), v1.lgamma(3.0), v1.rsqrt(4.0), v1.floordiv(7, 2), v1.mod(7, 4),
      v1.to_double([1]), v1.cast(1.7, tf.int32))
print(v1.random_normal_initializer(seed=1)([2]).shape, v1.random_uniform_initializer(0.0, 1.0, seed=1)([2]).dtype,
      v1.truncated_normal_initializer(seed=1)([2]).shape, v1.initializers.identity()([2, 2]))
print(v1.nn.log_softmax([[0.0, 0.0]], axis=1), v1.nn.moments(tf.constant([1.0, 3.0]), axes=[0]),
      v1.nn.embedding_lookup(tf.constant([[1.0], [2.0]]), [1]), v1.nn.dropout([1.0, 1.0], rate=0.0), v1.nn.top_k([1, 3, 2], k=1))
with tf.Graph().as_default():
    sp = v1.sparse_placeholder(tf.float32)
    total = v1.sparse_reduce_sum(sp)
    x = v1.placeholder(tf.float32, [2])
    (g,) = v1.gradients(tf.reduce_sum(x**2), x)
    loop = v1.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + x), (0, tf.zeros([2])))
    with v1.Session() as sess:
        print(sess.run(total, {sp: v1.SparseTensorValue([[0, 0], [1, 1]], [1.0, 2.0], [2, 2])}))
        print(sess.run([g, loop], {x: [1.0, 2.0]}))
v1.reset_default_graph()
print(v1.get_default_graph().get_operations())
