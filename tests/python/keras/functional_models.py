"""Models as graphs of layers: several inputs and outputs, shared layers, merging, losses with weights, layers on tensors."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(3)
rng = np.random.RandomState(0)
numbers = rng.rand(48, 5).astype("float32")
steps = rng.rand(48, 6, 4).astype("float32")
target = (numbers @ rng.rand(5, 2)).astype("float32")
kind = (steps.sum((1, 2)) * 1.3 % 3).astype("int32")

a = keras.Input((5,), name="numbers")
b = keras.Input((6, 4), name="steps")
shared = layers.Dense(4, activation="swish", name="shared")
left = shared(layers.Dense(4)(a))
right = layers.GlobalMaxPooling1D()(shared(b))
both = [left, right]
merged = layers.Concatenate()(
    [
        layers.Add()(both),
        layers.Multiply()(both),
        layers.Average()(both),
        layers.Maximum()(both),
        layers.Subtract()(both),
        layers.Dot(axes=1)(both),
    ]
)
merged = keras.ops.tanh(merged) * 2.0 + tf.keras.ops.square(merged)
model = keras.Model(
    inputs={"numbers": a, "steps": b},
    outputs={
        "value": layers.Dense(2, name="value")(merged),
        "kind": layers.Dense(3, activation="softmax", name="kind")(merged),
    },
)
model.compile(
    "adam",
    loss={"value": "mse", "kind": "sparse_categorical_crossentropy"},
    loss_weights={"value": 1.0, "kind": 0.5},
    metrics={"value": ["mae"], "kind": ["accuracy"]},
)
print(model.count_params(), sorted(model.input), [layer.name for layer in model.layers][-4:])
inputs, outputs = {"numbers": numbers, "steps": steps}, {"value": target, "kind": kind}
history = model.fit(inputs, outputs, epochs=3, batch_size=16, verbose=0)
for name, values in sorted(history.history.items()):
    print(name, [f"{v:.5f}" for v in values])
print({k: f"{v:.5f}" for k, v in sorted(model.evaluate(inputs, outputs, verbose=0, return_dict=True).items())})
for name, value in sorted(model.predict(inputs, verbose=0).items()):
    print(name, value.shape, np.round(value[:2], 5))

# A part of the model as a model of its own, with the same weights.
features = keras.Model(model.inputs, model.get_layer("shared").output)
print(features.output_shape, len(features.layers), features.get_layer("shared") is shared)
print(np.round(features([numbers[:1], steps[:1]]).numpy(), 5))

# A residual network, and layers that are used as functions.
i = keras.Input((8,))
h = layers.Dense(8)(i)
for size in (8, 8):
    h = layers.LayerNormalization()(h + layers.Dense(size, activation="relu")(h))
residual = keras.Model(i, layers.Dense(1)(h), name="residual")
residual.compile(keras.optimizers.SGD(0.05, momentum=0.9), "mse")
x = rng.rand(32, 8).astype("float32")
print([f"{v:.5f}" for v in residual.fit(x, x.sum(1), epochs=3, shuffle=False, verbose=0).history["loss"]])
print([layer.__class__.__name__ for layer in residual.layers])
