"""Columns of numbers and categories: normalisation, buckets, encodings, crosses, FeatureSpace, a model on them."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(12)
rng = np.random.RandomState(3)
table = {
    "age": rng.randint(18, 80, 64).astype("float32"),
    "income": (rng.rand(64) * 1000).astype("float32"),
    "city": rng.choice(["Oslo", "Rome", "Lima"], 64),
    "rooms": rng.randint(1, 6, 64),
}
label = ((table["age"] > 45) ^ (table["city"] == "Rome")).astype("float32")

scale = layers.Normalization(axis=None)
scale.adapt(table["income"])
print(
    np.round([float(scale.mean.numpy().ravel()[0]), float(scale.variance.numpy().ravel()[0])], 3),
    scale(table["income"][:3]),
)
both = layers.Normalization()
both.adapt(np.stack([table["age"], table["income"]], 1))
print(
    np.round(both(np.array([[40.0, 500.0]], "float32")).numpy(), 5),
    layers.Normalization(mean=3.0, variance=4.0)(np.array([[5.0]], "float32")),
)
print(
    np.round(layers.Normalization(mean=3.0, variance=4.0, invert=True)(np.array([[1.0]], "float32")).numpy(), 4),
    layers.Rescaling(0.5, 1.0)([[4.0]]),
)
buckets = layers.Discretization(num_bins=4)
buckets.adapt(table["age"])
print(np.round(buckets.bin_boundaries, 3), buckets(table["age"][:6]))
print(layers.Discretization(bin_boundaries=[30.0, 50.0], output_mode="one_hot")([[25.0], [45.0]]))
print(
    layers.CategoryEncoding(4, output_mode="multi_hot")([[0, 1], [3, 3]]),
    layers.CategoryEncoding(3, output_mode="one_hot")([0, 2]),
)
print(layers.CategoryEncoding(4, output_mode="count")([[0, 1, 1]], count_weights=[[0.5, 1.0, 2.0]]))
print(layers.HashedCrossing(8)((np.array(["a", "b"]), np.array([3, 4]))))

inputs = {
    "age": keras.Input((1,), name="age"),
    "income": keras.Input((1,), name="income"),
    "city": keras.Input((1,), name="city", dtype="string"),
    "rooms": keras.Input((1,), name="rooms", dtype="int64"),
}
cities = layers.StringLookup(vocabulary=["Oslo", "Rome", "Lima"], output_mode="one_hot")
rooms = layers.IntegerLookup(output_mode="one_hot")
rooms.adapt(table["rooms"])
ages = layers.Discretization(bin_boundaries=buckets.bin_boundaries, output_mode="one_hot")
h = layers.Concatenate()([scale(inputs["income"]), ages(inputs["age"]), cities(inputs["city"]), rooms(inputs["rooms"])])
model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(layers.Dense(8, activation="relu")(h)))
model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy", "precision", "recall"])
rows = tf.data.Dataset.from_tensor_slices((table, label)).batch(16)
history = model.fit(rows, epochs=4, verbose=0)
for name, values in sorted(history.history.items()):
    print(name, [f"{v:.5f}" for v in values])

space = keras.utils.FeatureSpace(
    features={"age": "float_discretized", "income": "float_normalized", "city": "string_categorical"},
    crosses=[("city", "age")],
    crossing_dim=4,
    output_mode="concat",
)
space.adapt(rows.map(lambda x, y: {k: x[k] for k in ("age", "income", "city")}))
one = space({"age": 30.0, "income": 100.0, "city": "Lima"})
print(one.shape, np.round(one.numpy().sum(), 4))
