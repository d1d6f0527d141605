"""A small transformer that predicts the next letter: embeddings, attention, own learning rate schedule, sampling."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

keras.utils.set_random_seed(8)
text = "the quick brown fox jumps over the lazy dog. " * 6
letters = sorted(set(text))
codes = np.array([letters.index(c) for c in text])
length, width = 12, 16


class Positions(layers.Layer):
    def __init__(self, size, width):
        super().__init__()
        self.words = layers.Embedding(size, width)
        self.places = layers.Embedding(length, width)

    def call(self, x):
        return self.words(x) + self.places(ops.arange(ops.shape(x)[1]))


class Block(layers.Layer):
    def __init__(self, heads):
        super().__init__()
        self.attention = layers.MultiHeadAttention(heads, width // heads, dropout=0.1, seed=1)
        self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(2)]
        self.dense = keras.Sequential([layers.Dense(2 * width, activation="gelu"), layers.Dense(width)])

    def call(self, x):
        x = self.norms[0](x + self.attention(x, x, use_causal_mask=True))
        return self.norms[1](x + self.dense(x))


class Warmup(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        step = ops.cast(step, "float32") + 1.0
        return 0.02 * ops.minimum(step / 8.0, ops.rsqrt(step / 8.0))


i = keras.Input((length,), dtype="int32")
h = Positions(len(letters), width)(i)
for _ in range(2):
    h = Block(2)(h)
model = keras.Model(i, layers.Dense(len(letters))(h))
model.compile(
    keras.optimizers.AdamW(Warmup(), weight_decay=1e-4, clipnorm=1.0),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(3, name="top3")],
)
windows = np.lib.stride_tricks.sliding_window_view(codes, length + 1)
data = tf.data.Dataset.from_tensor_slices((windows[:, :-1], windows[:, 1:])).batch(32, drop_remainder=True)
history = model.fit(data, epochs=3, verbose=0)
for name, values in sorted(history.history.items()):
    print(name, [f"{v:.4f}" for v in values])
print(model.count_params(), f"{float(model.optimizer.learning_rate):.6f}")

line = [letters.index(c) for c in "the quick br"]
for _ in range(20):
    logits = model(np.array([line[-length:]]))[0, -1]
    line.append(int(tf.argmax(logits)))
print(len("".join(letters[c] for c in line)))

# The other kinds of attention, and the weights that they give.
q = np.random.RandomState(1).rand(2, 3, 4).astype("float32")
mask = np.array([[True, True, False], [True, False, False]])
print(np.round(layers.Attention()([q, q], mask=[mask, mask]).numpy().sum((1, 2)), 5))
print(np.round(layers.AdditiveAttention(use_scale=False)([q, q]).numpy().sum((1, 2)), 5))
out, scores = layers.MultiHeadAttention(2, 3, seed=2)(q, q, return_attention_scores=True)
print(out.shape, scores.shape, np.round(scores.numpy().sum(-1), 4).min())
print(layers.GroupQueryAttention(4, 4, 2)(q, q).shape)
print(ops.dot_product_attention(q[:, :, None], q[:, :, None], q[:, :, None]).shape)
