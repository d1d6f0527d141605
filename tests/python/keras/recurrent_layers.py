"""LSTM, GRU and simple recurrent layers: stacks, both directions, masks, states, cells, training."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(2)
rng = np.random.RandomState(5)
x = rng.rand(24, 7, 4).astype("float32")
y = x.cumsum(1)[:, -1, :2]


def trained(*stack, data=x, target=y, optimizer="adam"):
    model = keras.Sequential(stack)
    model.compile(optimizer, "mse")
    loss = model.fit(data, target, epochs=2, batch_size=8, shuffle=False, verbose=0).history["loss"]
    names = [type(layer).__name__ for layer in stack]
    print(names, [f"{v:.5f}" for v in loss], np.round(model.predict(data, verbose=0).ravel()[:3], 5))
    return model


trained(layers.LSTM(6, return_sequences=True), layers.LSTM(4), layers.Dense(2))
trained(layers.GRU(6, return_sequences=True), layers.GRU(4, reset_after=False), layers.Dense(2))
trained(
    layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
    layers.Bidirectional(layers.GRU(3), merge_mode="sum"),
    layers.Dense(2),
)
trained(layers.SimpleRNN(5, unroll=True, activation="relu"), layers.Dense(2))
trained(layers.RNN([layers.LSTMCell(4), layers.GRUCell(3)]), layers.Dense(2))
trained(layers.LSTM(4, go_backwards=True, recurrent_dropout=0.2, dropout=0.1), layers.Dense(2))
trained(layers.TimeDistributed(layers.Dense(3)), layers.Conv1D(4, 2), layers.LSTM(3), layers.Dense(2))
trained(layers.Reshape((7, 2, 2, 1)), layers.ConvLSTM2D(2, 2, padding="same"), layers.Flatten(), layers.Dense(2))

# Steps that are masked do not count: where nothing but zeros is, and where words are padded.
padded = x.copy()
padded[:, 4:] = 0
masked = trained(layers.Masking(0.0), layers.LSTM(4), layers.Dense(2), data=padded)
print(np.allclose(masked.predict(padded, verbose=0), masked.predict(padded[:, :4], verbose=0), atol=1e-6))
words = rng.randint(1, 9, (24, 6)) * (np.arange(6) < rng.randint(2, 7, (24, 1)))
trained(layers.Embedding(10, 4, mask_zero=True), layers.GRU(4), layers.Dense(2), data=words)
trained(layers.Embedding(10, 4), layers.GlobalAveragePooling1D(), layers.Dense(2), data=words, optimizer="adagrad")

# An encoder whose states start a decoder.
source, given = keras.Input((7, 4)), keras.Input((3, 4))
_, h, c = layers.LSTM(5, return_state=True)(source)
steps = layers.LSTM(5, return_sequences=True)(given, initial_state=[h, c])
model = keras.Model([source, given], layers.TimeDistributed(layers.Dense(4))(steps))
model.compile("adam", "mse")
print([f"{v:.5f}" for v in model.fit([x, x[:, :3]], x[:, 1:4], epochs=2, shuffle=False, verbose=0).history["loss"]])

# States that are kept between calls.
keeping = keras.Sequential([keras.Input(batch_shape=(4, 7, 4)), layers.GRU(3, stateful=True)])
first, second = keeping(x[:4]).numpy(), keeping(x[:4]).numpy()
keeping.layers[0].reset_state()
print(np.allclose(first, second), np.allclose(first, keeping(x[:4])), np.round(first[0], 5))
cell = layers.LSTMCell(2)
out, states = cell(x[:2, 0], cell.get_initial_state(2))
print(out.shape, len(states), [s.shape for s in states])
