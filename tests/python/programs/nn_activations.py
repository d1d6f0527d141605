"""tf.nn: activations, softmax forms, normalisation, dropout of rate zero, bias, top-k, losses."""
import tensorflow as tf

x = tf.constant([[-2.0, -0.5, 0.0, 1.0, 7.0]])
for name in ("relu", "relu6", "elu", "selu", "leaky_relu", "gelu", "sigmoid", "tanh", "softplus", "softsign", "swish",
             "silu", "softmax", "log_softmax", "crelu"):
    print(name, getattr(tf.nn, name)(x).numpy())
print(tf.nn.leaky_relu(x, alpha=0.5), tf.nn.gelu(x, approximate=True), tf.nn.softmax(x, axis=0),
      tf.nn.swish(x, beta=2.0))
print(tf.nn.bias_add(tf.zeros([2, 3]), [1.0, 2.0, 3.0]), tf.compat.v1.nn.bias_add(tf.zeros([1, 2, 2, 1]), [5.0]).shape,
      tf.nn.l2_loss(x), tf.nn.dropout(x, 0.0))
print(tf.nn.l2_normalize(x, axis=1), tf.nn.local_response_normalization(tf.ones([1, 1, 1, 4])), tf.nn.zero_fraction(x),
      tf.nn.scale_regularization_loss(2.0))
labels, logits = tf.constant([2, 0]), tf.constant([[0.1, 0.2, 0.9], [2.0, -1.0, 0.5]])
print(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
print(tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot(labels, 3), logits=logits))
print(tf.compat.v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
print(tf.nn.sigmoid_cross_entropy_with_logits(labels=[[1.0, 0.0, 1.0]] * 2, logits=logits),
      tf.nn.weighted_cross_entropy_with_logits([[1.0, 0.0, 1.0]] * 2, logits, 2.0))
print(tf.nn.log_poisson_loss([1.0, 2.0], [0.5, 0.7]), tf.nn.compute_average_loss([1.0, 2.0, 3.0], global_batch_size=6),
      tf.nn.in_top_k([2, 1], logits, 1))
print(tf.nn.top_k(logits, 2), tf.nn.top_k(logits, 1, sorted=False).indices, tf.nn.embedding_lookup(tf.eye(3), [2, 0]))
mean, variance = tf.nn.moments(logits, axes=[0])
print(tf.nn.batch_normalization(logits, mean, variance, offset=1.0, scale=2.0, variance_epsilon=1e-3))
y, m, v = tf.compat.v1.nn.fused_batch_norm(tf.reshape(tf.range(8.0), [2, 2, 1, 2]), [1.0, 1.0], [0.0, 0.0])[:3]
print(y[..., 0], m, v)
print(tf.nn.ctc_greedy_decoder(tf.math.log([[[0.1, 0.8, 0.1]], [[0.1, 0.1, 0.8]]]), [2])[0][0].values)
print(tf.nn.ctc_loss(labels=[[1, 2]], logits=tf.zeros([4, 1, 3]), label_length=[2], logit_length=[4], blank_index=0))
print(tf.nn.nce_loss(tf.ones([4, 2]), tf.zeros([4]), tf.constant([[0]], tf.int64), tf.constant([[1.0, 1.0]]), 1, 4,
                     sampled_values=(tf.constant([2], tf.int64), tf.constant([[0.5]]), tf.constant([0.5]))))
for bad in (lambda: tf.nn.relu("a"),
            lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[5], logits=[[1.0, 2.0]]),
            lambda: tf.nn.softmax_cross_entropy_with_logits([[1.0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]),
            lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[1.0, 2.0]),
            lambda: tf.nn.bias_add(tf.zeros([2, 3]), [1.0]), lambda: tf.nn.dropout(x, 1.5)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
