"""Models and layers as classes of the user's: build and call, own losses and metrics, own train_step and test_step."""

import keras
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(1)
x = rng.rand(64, 6).astype("float32")
y = np.stack([x.sum(1), x.max(1)], 1).astype("float32")


@keras.saving.register_keras_serializable("example")
class Scaled(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="w")
        self.calls = self.add_weight(shape=(), initializer="zeros", dtype="int32", trainable=False, name="calls")

    def call(self, x):
        self.calls.assign_add(1)
        self.add_loss(1e-2 * tf.reduce_sum(self.w**2))
        return tf.matmul(x, self.w) * 0.5

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class Plain(keras.Model):
    def __init__(self):
        super().__init__()
        self.blocks = [Scaled(8), Scaled(4)]
        self.drop = keras.layers.Dropout(0.25, seed=5)
        self.head = keras.layers.Dense(2)

    def call(self, x, training=False):
        for block in self.blocks:
            x = tf.nn.leaky_relu(block(x))
            if training:
                x = self.drop(x, training=True)
        return self.head(x)


keras.utils.set_random_seed(11)
plain = Plain()
plain.compile(keras.optimizers.RMSprop(1e-2), "mse", metrics=[keras.metrics.RootMeanSquaredError(name="rmse")])
history = plain.fit(x, y, epochs=3, batch_size=16, verbose=0)
for name, values in sorted(history.history.items()):
    print(name, [f"{v:.5f}" for v in values])
print([int(b.calls) for b in plain.blocks], len(plain.losses), [w.shape for w in plain.weights])
print(np.round(plain.predict(x[:2], verbose=0), 5))
print(Scaled.from_config(plain.blocks[0].get_config()).units)


class Stepping(keras.Model):
    """Trains by steps of its own: the gradients' norm is clipped, and what is reported is kept here."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.tracker = keras.metrics.Mean(name="loss")
        self.mae = keras.metrics.MeanAbsoluteError(name="mae")

    @property
    def metrics(self):
        return [self.tracker, self.mae]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            p = self(x, training=True)
            loss = tf.reduce_mean(tf.abs(y - p) ** 1.5)
        gradients = tape.gradient(loss, self.trainable_variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.tracker.update_state(loss)
        self.mae.update_state(y, p)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        p = self(x, training=False)
        self.tracker.update_state(tf.reduce_mean(tf.abs(y - p)))
        self.mae.update_state(y, p)
        return {m.name: m.result() for m in self.metrics}


i = keras.Input((6,))
stepping = Stepping(i, keras.layers.Dense(2)(keras.layers.Dense(8, activation="tanh")(i)))
stepping.compile(optimizer=keras.optimizers.Adam(0.02))
history = stepping.fit(x, y, epochs=3, batch_size=16, validation_data=(x, y), verbose=0)
for name, values in sorted(history.history.items()):
    print(name, [f"{v:.5f}" for v in values])
print({k: f"{v:.5f}" for k, v in sorted(stepping.evaluate(x, y, verbose=0, return_dict=True).items())})

# The same code runs op by op where that is asked for.
eager = Plain()
eager.compile("sgd", "mse", run_eagerly=True)
print([f"{v:.5f}" for v in eager.fit(x, y, epochs=2, batch_size=32, shuffle=False, verbose=0).history["loss"]])
