"""Models written and read: .keras files, HDF5 files, weights alone, JSON, configurations, optimizers that go on."""

import os
import tempfile

import keras
import numpy as np
from keras import layers

folder = tempfile.mkdtemp()
rng = np.random.RandomState(0)
x, y = rng.rand(32, 5).astype("float32"), rng.rand(32, 2).astype("float32")


@keras.saving.register_keras_serializable("example")
class Gate(layers.Layer):
    def __init__(self, strength=1.0, **kwargs):
        super().__init__(**kwargs)
        self.strength = strength

    def build(self, shape):
        self.open = self.add_weight(shape=(shape[-1],), initializer="ones", name="open")

    def call(self, x):
        return x * keras.ops.sigmoid(self.open * self.strength)

    def get_config(self):
        return {**super().get_config(), "strength": self.strength}


@keras.saving.register_keras_serializable("example")
def doubled(x):
    return 2.0 * x


def network():
    keras.utils.set_random_seed(5)
    i = keras.Input((5,))
    h = layers.Dense(4, activation=doubled, kernel_initializer="he_normal")(layers.BatchNormalization()(i))
    model = keras.Model(i, layers.Dense(2, name="out")(Gate(0.5)(h)), name="net")
    model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    return model


def same(a, b):
    return np.allclose(a.predict(x, verbose=0), b.predict(x, verbose=0), atol=1e-6)


model = network()
model.fit(x, y, epochs=2, shuffle=False, verbose=0)
path = os.path.join(folder, "net.keras")
model.save(path)
again = keras.models.load_model(path)
print(
    again.name, [type(layer).__name__ for layer in again.layers], same(model, again), again.get_layer("gate").strength
)
print(int(again.optimizer.iterations), type(again.optimizer).__name__, f"{float(again.optimizer.learning_rate):.4f}")
# Both go on as one: the optimizer's moments came along.
for each in (model, again):
    print([f"{v:.5f}" for v in each.fit(x, y, epochs=2, shuffle=False, verbose=0).history["loss"]])
print(same(model, again))

model.save(os.path.join(folder, "net.h5"))
print(same(model, keras.models.load_model(os.path.join(folder, "net.h5"), compile=False)))
model.save_weights(os.path.join(folder, "net.weights.h5"))
other = network()
print(same(model, other))
other.load_weights(os.path.join(folder, "net.weights.h5"))
print(same(model, other))
for k, w in enumerate(model.get_weights()):
    print(k, w.shape, w.dtype)

text = model.to_json()
built = keras.models.model_from_json(text)
built.set_weights(model.get_weights())
print(same(model, built), sorted(model.get_config())[:4])
clone = keras.models.clone_model(model)
print(len(clone.layers), clone.layers[2] is model.layers[2], clone.count_params() == model.count_params())
layer = layers.Conv2D(
    4, (3, 3), padding="same", activation="relu", kernel_regularizer=keras.regularizers.L1L2(0.1, 0.2)
)
config = layers.serialize(layer)
print(config["class_name"], config["config"]["padding"], config["config"]["kernel_regularizer"]["config"])
print(layers.deserialize(config).get_config() == layer.get_config())
print(keras.optimizers.serialize(keras.optimizers.SGD(0.1, momentum=0.9))["config"]["momentum"])
print(keras.losses.deserialize(keras.losses.serialize(keras.losses.Huber(2.0))).get_config())

# A Sequential whose layers were frozen, and one with a Lambda.
sequential = keras.Sequential(
    [keras.Input((5,)), layers.Dense(3, trainable=False), layers.Lambda(lambda v: v - 1), layers.Dense(2)]
)
sequential.save(os.path.join(folder, "s.keras"))
loaded = keras.models.load_model(os.path.join(folder, "s.keras"), safe_mode=False)
print(same(sequential, loaded), [len(layer.trainable_weights) for layer in loaded.layers])
try:
    keras.models.load_model(os.path.join(folder, "nothing.keras"))
except ValueError as error:
    print(str(error).split(":")[0])
