"""Text in, classes out: TextVectorization and lookups, in a model and in tf.data, saved with their words."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(1)
good = ["What a good movie!", "good, very good film", "I liked this film", "lovely and good", "liked it"]
bad = ["a bad movie", "this film was bad...", "BAD, very bad", "boring and bad film", "so boring"]
texts, labels = tf.constant(good + bad), np.array([1.0] * 5 + [0.0] * 5)

words = layers.TextVectorization(max_tokens=24, output_sequence_length=5)
words.adapt(texts)
print(words.vocabulary_size(), words.get_vocabulary()[:8])
print(words(["a good film", "unheard words of mine, all of them"]))

model = keras.Sequential(
    [
        keras.Input((), dtype="string"),
        words,
        layers.Embedding(24, 8, mask_zero=True),
        layers.LSTM(6),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC(name="auc")])
history = model.fit(texts, labels, epochs=4, batch_size=5, shuffle=False, verbose=0)
for name, values in sorted(history.history.items()):
    print(name, [f"{v:.5f}" for v in values])
answers = model.predict(tf.constant(["good movie", "bad movie", "boring"]), verbose=0)
print(np.round(answers.ravel(), 5))
with tempfile.TemporaryDirectory() as folder:
    model.save(os.path.join(folder, "reviews.keras"))
    again = keras.models.load_model(os.path.join(folder, "reviews.keras"))
print(np.allclose(answers, again.predict(tf.constant(["good movie", "bad movie", "boring"]), verbose=0)))

# In the input pipeline instead of the model.
data = tf.data.Dataset.from_tensor_slices((good + bad, labels)).batch(4).map(lambda x, y: (words(x), y))
for x, y in data.take(1):
    print(x, y)

# Other outputs.
bags = layers.TextVectorization(output_mode="multi_hot", max_tokens=8, pad_to_max_tokens=True)
bags.adapt(tf.data.Dataset.from_tensor_slices(good).batch(2))
print(bags(["good good film"]))
counts = layers.TextVectorization(output_mode="count", ngrams=2, vocabulary=["good", "film", "good film"])
print(counts(["good film good"]))
weights = layers.TextVectorization(output_mode="tf_idf")
weights.adapt(good)
print(np.round(weights(["good movie"]).numpy(), 4))
plain = layers.TextVectorization(standardize=None, split="character", ragged=True, vocabulary=["a", "b"])
print(plain(["ab", "abz"]))

# Lookups by themselves.
letters = layers.StringLookup(vocabulary=["a", "b", "c"])
print(
    letters([["a", "z"], ["c", "b"]]), layers.StringLookup(vocabulary=letters.get_vocabulary(), invert=True)([3, 1, 0])
)
learnt = layers.StringLookup(num_oov_indices=2, output_mode="one_hot")
learnt.adapt(np.array(["x", "y", "x"]))
print(learnt.get_vocabulary(), learnt(["x", "y"]))
print(layers.IntegerLookup(vocabulary=[3, 5, 7], output_mode="multi_hot")([[3, 9], [7, 5]]))
print(layers.Hashing(num_bins=5, salt=[1, 2])([["q"], ["r"]]), layers.Hashing(num_bins=5)([["q"], ["r"]]))
