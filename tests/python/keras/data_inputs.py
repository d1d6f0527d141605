"""What fit, evaluate and predict take: arrays, tf.data, generators, PyDataset, sparse rows, weights; several steps at once."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

rng = np.random.RandomState(7)
x = rng.rand(40, 5).astype("float32")
y = (x @ rng.rand(5, 1)).astype("float32")


def network(**options):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([layers.Dense(6, activation="relu"), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.02), "mse", **options)
    return model


def shown(what, history):
    print(what, {k: [f"{v:.5f}" for v in values] for k, values in sorted(history.history.items())})


shown("arrays", network().fit(x, y, epochs=3, batch_size=7, verbose=0))
shown("tensors", network().fit(tf.constant(x), tf.constant(y), epochs=2, batch_size=8, shuffle=False, verbose=0))
shown("split", network().fit(x, y, epochs=2, validation_split=0.25, verbose=0))
rows = tf.data.Dataset.from_tensor_slices((x, y))
model = network()
shown("dataset", model.fit(rows.shuffle(40, seed=2).batch(8), epochs=2, validation_data=rows.batch(10), verbose=0))
print(f"{model.evaluate(rows.batch(16), verbose=0):.5f}", model.predict(rows.batch(16), verbose=0).shape)
shown("steps", network().fit(rows.batch(8).repeat(), epochs=2, steps_per_epoch=3, verbose=0))
print(network().predict(rows.map(lambda a, b: a).batch(8), steps=2, verbose=0).shape)


def batches():
    while True:
        for start in range(0, 40, 10):
            yield x[start : start + 10], y[start : start + 10]


shown("generator", network().fit(batches(), steps_per_epoch=4, epochs=2, verbose=0))


class Rows(keras.utils.PyDataset):
    def __len__(self):
        return 5

    def __getitem__(self, k):
        return x[k * 8 : k * 8 + 8], y[k * 8 : k * 8 + 8]


shown("sequence", network().fit(Rows(workers=2), epochs=2, shuffle=False, verbose=0))
shown("many steps", network(steps_per_execution=3).fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0))
print(network(steps_per_execution=4).predict(x, batch_size=3, verbose=0).shape)

# Weights of samples and of classes.
kind = (y[:, 0] > np.median(y)).astype("int32")
model = keras.Sequential([layers.Dense(2, activation="softmax", kernel_initializer="ones")])
model.compile("sgd", "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
shown("classes", model.fit(x, kind, class_weight={0: 1.0, 1: 3.0}, epochs=2, shuffle=False, verbose=0))
shown("samples", model.fit(x, kind, sample_weight=np.linspace(0, 1, 40), epochs=1, shuffle=False, verbose=0))
weighted = tf.data.Dataset.from_tensor_slices((x, kind, np.linspace(1, 2, 40))).batch(8)
shown("weighted", model.fit(weighted, epochs=1, verbose=0))

# Rows that are mostly zeros.
keras.utils.set_random_seed(1)
sparse = tf.sparse.from_dense(x * (x > 0.5))
model = keras.Sequential([keras.Input((5,), sparse=True), layers.Dense(1)])
model.compile("sgd", "mse")
shown("sparse", model.fit(sparse, y, epochs=2, batch_size=8, shuffle=False, verbose=0))
print(np.round(model.predict(sparse, verbose=0)[:2], 4))

# Helpers that make datasets.
windows = keras.utils.timeseries_dataset_from_array(
    np.arange(12.0), np.arange(12.0), sequence_length=3, sampling_rate=2, batch_size=4
)
print([(a.numpy().tolist(), b.numpy().tolist()) for a, b in windows][0])
left, right = keras.utils.split_dataset(tf.data.Dataset.range(10), left_size=0.7)
print([int(v) for v in left], [int(v) for v in right])
print(
    keras.utils.to_categorical([0, 2], 3),
    keras.utils.pad_sequences([[1], [2, 3, 4]], maxlen=2),
    keras.utils.normalize(np.array([[3.0, 4.0]])),
)
