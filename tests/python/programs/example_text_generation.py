"""A bigram model of letters: counts, probabilities, log likelihood, greedy generation."""
import tensorflow as tf

text = "the theory of the thing is that this is the thing"
letters = sorted(set(text))
index = {c: i for i, c in enumerate(letters)}
ids = tf.constant([index[c] for c in text])
n = len(letters)
pairs = tf.stack([ids[:-1], ids[1:]], axis=1)
counts = tf.tensor_scatter_nd_add(tf.ones([n, n]), pairs, tf.ones([tf.shape(pairs)[0]]))
probs = counts / tf.reduce_sum(counts, axis=1, keepdims=True)
print(n, counts.shape, tf.reduce_sum(counts).numpy())
print(probs[index["t"]].numpy().round(3))
loglik = tf.reduce_sum(tf.math.log(tf.gather_nd(probs, pairs)))
print("log likelihood", loglik.numpy())


@tf.function
def generate(start, length):
    out = tf.TensorArray(tf.int32, size=length)
    current = start
    for i in tf.range(length):
        out = out.write(i, current)
        current = tf.argmax(probs[current], output_type=tf.int32)
    return out.stack()


print("".join(letters[i] for i in generate(tf.constant(index["t"]), 12)))
logits = tf.Variable(tf.zeros([n, n]))
targets = tf.one_hot(pairs[:, 1], n)
for step in range(30):
    with tf.GradientTape() as tape:
        z = tf.gather(logits, pairs[:, 0])
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(targets, z))
    g = tape.gradient(loss, logits)
    logits.scatter_sub(tf.IndexedSlices(20.0 * g.values, g.indices))
    if step % 10 == 0:
        print(step, loss.numpy())
print(type(g).__name__, g.values.shape)
sampled = tf.random.stateless_categorical(tf.math.log(probs[:2]), 5, seed=[1, 2])
print(sampled)
