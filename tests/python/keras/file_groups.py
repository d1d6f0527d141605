"""Which groups the files of models have: what TensorFlow tracks besides is no part of them, and loading has nothing to warn of."""

import os
import tempfile
import warnings
import zipfile

import h5py
import keras
import tensorflow as tf

folder = tempfile.mkdtemp()


def groups(path):
    found = []
    if path.endswith(".keras"):
        with zipfile.ZipFile(path) as z:
            found += sorted(z.namelist())
            z.extract("model.weights.h5", folder)
        path = os.path.join(folder, "model.weights.h5")
    with h5py.File(path) as f:
        f.visititems(lambda name, item: found.append(name + (str(item.shape) if hasattr(item, "shape") else "/")))
    return found


@keras.saving.register_keras_serializable("groups")
class Held(keras.layers.Layer):
    """Has lists, dicts and modules of its own, and things that only TensorFlow tracks."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.parts = [keras.layers.Dense(2), keras.layers.Dense(3)]
        self.named = {"a": keras.layers.Dense(2, use_bias=False), "b": [keras.layers.LayerNormalization()]}
        self.pair = (keras.layers.Dense(1), 5)
        self.numbers = [1, 2, 3]
        self.module = tf.Module()
        self.raw = tf.Variable([1.0, 2.0])

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1],), name="w")
        for layer in (*self.parts, self.named["a"], self.pair[0]):
            layer.build(shape)
        self.named["b"][0].build(shape)
        self.built = True

    def call(self, x):
        return self.parts[0](x) + self.named["a"](x)


@keras.saving.register_keras_serializable("groups")
class Sub(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.held = Held()
        self.tail = keras.Sequential([keras.layers.Dense(2), keras.layers.BatchNormalization()])
        self.counter = keras.metrics.Mean(name="counter")

    def call(self, x):
        return self.tail(self.held(x))


x = tf.ones([2, 4])
inputs = keras.Input((4,))
hidden = keras.layers.Dense(3, name="hidden")(inputs)
models = {
    "sequential": keras.Sequential([keras.Input((4,)), keras.layers.Dense(2), keras.layers.Dropout(0.5), keras.layers.Dense(1)]),
    "functional": keras.Model(inputs, [keras.layers.Dense(1, name="one")(hidden), keras.layers.Dense(2, name="two")(hidden)]),
    "recurrent": keras.Sequential([keras.Input((3, 4)), keras.layers.Bidirectional(keras.layers.LSTM(2)), keras.layers.Dense(1)]),
    "subclass": Sub(),
}
models["subclass"](x)
for name, model in models.items():
    print("----", name)
    file = os.path.join(folder, name + ".keras")
    model.save(file)
    for line in groups(file):
        print(line)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        again = keras.saving.load_model(file)
    print("loaded", len(again.weights), [str(w.message)[:80] for w in seen])
    weights = os.path.join(folder, name + ".weights.h5")
    model.save_weights(weights)
    print(groups(weights) == [g for g in groups(file) if not g.startswith(("config", "metadata", "model.weights", "_config"))])

print("---- trained")
model = models["sequential"]
model.compile(keras.optimizers.Adam(), "mse", metrics=["mae"])
model.fit(tf.ones([4, 4]), tf.ones([4, 1]), verbose=0)
file = os.path.join(folder, "trained.keras")
model.save(file)
for line in groups(file):
    print(line)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    again = keras.saving.load_model(file)
print([str(w.message)[:80] for w in seen], len(again.optimizer.variables))

print("---- after a checkpoint and a SavedModel of it")
tf.train.Checkpoint(model=model).save(os.path.join(folder, "checkpoint"))
model.export(os.path.join(folder, "exported"), verbose=False)
before = groups(file)
model.save(file)
print(groups(file) == before)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    keras.saving.load_model(file)
print([str(w.message)[:80] for w in seen])

print("---- HDF5")
old = os.path.join(folder, "old.h5")
model.save(old)
for line in groups(old):
    print(line)
