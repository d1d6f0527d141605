"""A hidden Markov model: forward algorithm by scan, Viterbi by loops, likelihoods in logs."""
import tensorflow as tf

start = tf.math.log(tf.constant([0.6, 0.4]))
trans = tf.math.log(tf.constant([[0.7, 0.3], [0.4, 0.6]]))
emit = tf.math.log(tf.constant([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]))
observed = tf.constant([0, 1, 2, 2, 0])


def forward(observed):
    first = start + emit[:, observed[0]]

    def step(alpha, o):
        return tf.reduce_logsumexp(alpha[:, None] + trans, axis=0) + emit[:, o]

    return tf.scan(step, observed[1:], initializer=first)


alphas = forward(observed)
print(alphas)
print("log likelihood", tf.reduce_logsumexp(alphas[-1]).numpy())


@tf.function
def viterbi(observed):
    n = tf.shape(observed)[0]
    score = start + tf.gather(emit, observed[0], axis=1)
    back = tf.TensorArray(tf.int32, size=n)
    for t in tf.range(1, n):
        options = score[:, None] + trans
        back = back.write(t, tf.argmax(options, axis=0, output_type=tf.int32))
        score = tf.reduce_max(options, axis=0) + tf.gather(emit, observed[t], axis=1)
    path = tf.TensorArray(tf.int32, size=n)
    state = tf.argmax(score, output_type=tf.int32)
    path = path.write(n - 1, state)
    for t in tf.range(n - 1, 0, -1):
        state = back.read(t)[state]
        path = path.write(t - 1, state)
    return path.stack(), tf.reduce_max(score)


path, score = viterbi(observed)
print(path.numpy(), score.numpy())
print(tf.exp(alphas - tf.reduce_logsumexp(alphas, axis=1, keepdims=True)).numpy())
longer = tf.tile(observed, [3])
print(viterbi(longer)[0].numpy(), tf.reduce_logsumexp(forward(longer)[-1]).numpy())
