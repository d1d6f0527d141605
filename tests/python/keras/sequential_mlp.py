"""A classifier as a Sequential model: compile, fit with validation, evaluate, predict, summary."""

import numpy as np
import tensorflow as tf

keras = tf.keras
keras.utils.set_random_seed(7)

x = np.random.normal(size=(256, 8)).astype("float32")
y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).astype("int32")

model = keras.Sequential(
    [
        keras.Input((8,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(16, activation="gelu", kernel_regularizer=keras.regularizers.L2(1e-3)),
        keras.layers.Dense(2),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-2),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
print(model.count_params(), [layer.name for layer in model.layers], model.output_shape)
model.summary(print_fn=print)
# Four epochs, shuffled anew: the order and what is dropped come from the seed.
history = model.fit(x[:192], y[:192], batch_size=32, epochs=4, validation_data=(x[192:], y[192:]), verbose=0)
for name, values in sorted(history.history.items()):
    print(name, [f"{v:.5f}" for v in values])
print([f"{v:.5f}" for v in model.evaluate(x, y, verbose=0)])
logits = model.predict(x[:5], verbose=0)
print(type(logits), logits.shape, logits.dtype)
print(np.round(logits, 4))
print(np.array_equal(model(x[:2]).numpy(), model(x[:2]).numpy()), model(x[:2], training=True).shape)
print([v.path for v in model.trainable_variables])
print({k: f"{float(v):.5f}" for k, v in model.train_on_batch(x[:32], y[:32], return_dict=True).items()})
print([f"{v:.5f}" for v in model.test_on_batch(x[:32], y[:32])])
print(model.predict_on_batch(x[:3]).shape, int(model.optimizer.iterations))

# What a wrong call says.
try:
    model(np.zeros((2, 9), "float32"))
except ValueError as error:
    print(str(error).splitlines()[0])
