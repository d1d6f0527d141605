"""Keras under MirroredStrategy: fit, evaluate and predict, own training steps and loops, checkpoints and saved models."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf

tf.get_logger().setLevel("ERROR")
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
x = np.linspace(-1, 1, 64 * 4, dtype=np.float32).reshape(64, 4)
y = (x.sum(1, keepdims=True) > 0).astype("float32")


def make():
    keras.utils.set_random_seed(2)
    hidden = keras.layers.Dense(8, activation="tanh")
    return keras.Sequential([keras.layers.Input((4,)), hidden, keras.layers.Dense(1, activation="sigmoid")])


def rounded(values):
    return [f"{float(v):.4f}" for v in values]


for name in ("sgd", "adam"):
    with strategy.scope():
        model = make()
        model.compile(name, "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC(name="auc")])
    fitted = model.fit(x, y, batch_size=16, epochs=2, verbose=0, shuffle=False, validation_data=(x[:20], y[:20]))
    print(name, {k: rounded(v) for k, v in sorted(fitted.history.items())})
    print(rounded(model.evaluate(x, y, batch_size=10, verbose=0)), model.optimizer.iterations.numpy())
    print(rounded(model.predict(x[:5], batch_size=4, verbose=0)[:, 0]))
print(type(model.weights[0].value).__name__, [v.device[-5:] for v in model.weights[0].value.values])


class Custom(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1, kernel_initializer="ones")
        self.tracker = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x) - y) ** 2)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}

    metrics = property(lambda self: [self.tracker])


with strategy.scope():
    custom = Custom()
    custom.compile(keras.optimizers.SGD(0.02, momentum=0.9))
print("own step", rounded(custom.fit(x, y, batch_size=16, epochs=2, verbose=0, shuffle=False).history["loss"]))

with strategy.scope():
    model = make()
    optimizer = keras.optimizers.SGD(0.1)
    loss_of = keras.losses.BinaryCrossentropy(reduction="none")
    accuracy = keras.metrics.BinaryAccuracy()


@tf.function
def step(batch):
    def replica(batch):
        x, y = batch
        with tf.GradientTape() as tape:
            p = model(x, training=True)
            loss = tf.nn.compute_average_loss(loss_of(y, p), global_batch_size=16)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        accuracy.update_state(y, p)
        return loss

    return strategy.reduce("SUM", strategy.run(replica, args=(batch,)), axis=None)


batches = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(16))
for _ in range(2):
    print("own loop", rounded(step(batch) for batch in batches), rounded([accuracy.result()]))
with tempfile.TemporaryDirectory() as folder:
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    path = checkpoint.save(os.path.join(folder, "checkpoint"))
    before = [w.copy() for w in model.get_weights()]
    model.set_weights([w * 0 for w in before])
    checkpoint.restore(path)
    print(all(np.array_equal(a, b) for a, b in zip(before, model.get_weights())))
    model.save(os.path.join(folder, "model.keras"))
    with strategy.scope():
        loaded = keras.models.load_model(os.path.join(folder, "model.keras"))
    print(
        np.allclose(loaded.predict(x, verbose=0), model.predict(x, verbose=0), atol=1e-5),
        type(loaded.weights[0].value).__name__,
    )
    tf.saved_model.save(model, os.path.join(folder, "saved"))
    serve = tf.saved_model.load(os.path.join(folder, "saved")).signatures["serving_default"]
    print(np.allclose(serve(tf.constant(x[:4]))["output_0"], model(x[:4]), atol=1e-5))
