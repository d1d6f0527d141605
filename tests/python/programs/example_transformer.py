"""A tiny transformer block trained to copy: attention heads, layer norm, residuals, masks, positional embeddings."""
import tensorflow as tf

vocab, length, width, heads = 7, 5, 8, 2


def init(shape, seed):
    return tf.Variable(tf.random.stateless_truncated_normal(shape, [seed, 0], stddev=0.3))


class LayerNorm(tf.Module):
    def __init__(self, n):
        super().__init__()
        self.gain, self.shift = tf.Variable(tf.ones([n])), tf.Variable(tf.zeros([n]))

    def __call__(self, x):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, self.shift, self.gain, 1e-5)


class Block(tf.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = init([width, 3 * width], 1), init([width, width], 2)
        self.up, self.down = init([width, 2 * width], 3), init([2 * width, width], 4)
        self.norm1, self.norm2 = LayerNorm(width), LayerNorm(width)

    def __call__(self, x):
        b = tf.shape(x)[0]
        h = tf.reshape(self.norm1(x) @ self.qkv, [b, length, 3, heads, width // heads])
        q, k, v = tf.unstack(tf.transpose(h, [2, 0, 3, 1, 4]))
        scores = tf.matmul(q, k, transpose_b=True) * (width // heads) ** -0.5
        mask = tf.linalg.band_part(tf.ones([length, length]), -1, 0)
        weights = tf.nn.softmax(tf.where(mask > 0.0, scores, -1e9))
        out = tf.reshape(tf.transpose(weights @ v, [0, 2, 1, 3]), [b, length, width])
        x = x + out @ self.proj
        return x + tf.nn.gelu(self.norm2(x) @ self.up) @ self.down


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = init([vocab, width], 5), init([length, width], 6)
        self.block, self.norm = Block(), LayerNorm(width)

    @tf.function(input_signature=[tf.TensorSpec([None, length], tf.int32)])
    def __call__(self, ids):
        x = tf.gather(self.tokens, ids) + self.positions
        return tf.matmul(self.norm(self.block(x)), self.tokens, transpose_b=True)


model = Model()
ids = tf.random.stateless_uniform([12, length], [8, 8], 0, vocab, tf.int32)
print(model(ids).shape, len(model.trainable_variables), sum(int(tf.size(v)) for v in model.trainable_variables))


@tf.function
def step(ids):
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids, logits=model(ids))
        loss = tf.reduce_mean(losses)
    grads, norm = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    for v, g in zip(model.trainable_variables, grads):
        v.assign_sub(0.5 * g)
    return loss, norm


for i in range(12):
    loss, norm = step(ids)
    if i % 3 == 0:
        print(i, f"{loss.numpy():.3f}", norm.shape)
print(f"{tf.reduce_mean(tf.cast(tf.argmax(model(ids), -1, output_type=tf.int32) == ids, tf.float32)).numpy():.1f}")
