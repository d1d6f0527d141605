"""Keras layers, losses, metrics and optimizers in loops of the user's own, with tf.GradientTape and tf.function."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(21)
rng = np.random.RandomState(4)
x = rng.rand(64, 6).astype("float32")
y = (x[:, :3].sum(1) > x[:, 3:].sum(1)).astype("int32")
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64, seed=3).batch(16)

model = keras.Sequential(
    [layers.BatchNormalization(), layers.Dense(12, activation="tanh", kernel_regularizer="l2"), layers.Dense(2)]
)
model.build((None, 6))
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.05, 4, 0.9))
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accuracy, mean_loss = keras.metrics.SparseCategoricalAccuracy(), keras.metrics.Mean()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_of(y, logits) + tf.add_n(model.losses)
    gradients = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(gradients, model.trainable_weights))
    accuracy.update_state(y, logits)
    mean_loss.update_state(loss)
    return loss


for epoch in range(3):
    losses = [float(step(a, b)) for a, b in data]
    print(epoch, [f"{v:.5f}" for v in losses], f"{float(mean_loss.result()):.5f}", f"{float(accuracy.result()):.4f}")
    accuracy.reset_state()
    mean_loss.reset_state()
print(step.experimental_get_tracing_count(), int(optimizer.iterations), f"{float(optimizer.learning_rate):.6f}")


@tf.function(jit_compile=True)
def compiled(x):
    return tf.nn.softmax(model(x, training=False))


print(np.allclose(compiled(x[:4]), tf.nn.softmax(model(x[:4])), atol=1e-6))

# Gradients with respect to inputs, second derivatives, and one model that trains another's output.
small = keras.Sequential([keras.Input((2,)), layers.Dense(3, activation="tanh"), layers.Dense(1)])
point = tf.Variable([[0.3, -0.2]])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        value = small(point)
    slope = inner.gradient(value, point)
    norm = tf.norm(slope)
print(
    np.round(slope.numpy(), 5),
    [None if g is None else g.shape for g in outer.gradient(norm, small.trainable_variables)],
)

maker = keras.Sequential([keras.Input((3,)), layers.Dense(4, activation="relu"), layers.Dense(2)])
judge = keras.Sequential([keras.Input((2,)), layers.Dense(4, activation="relu"), layers.Dense(1)])
bce = keras.losses.BinaryCrossentropy(from_logits=True)
steps = {m: keras.optimizers.Adam(0.02) for m in ("maker", "judge")}
noise = rng.rand(8, 3).astype("float32")


@tf.function
def duel(real):
    with tf.GradientTape() as a, tf.GradientTape() as b:
        fake = maker(noise, training=True)
        says_real, says_fake = judge(real, training=True), judge(fake, training=True)
        maker_loss = bce(tf.ones_like(says_fake), says_fake)
        judge_loss = bce(tf.ones_like(says_real), says_real) + bce(tf.zeros_like(says_fake), says_fake)
    steps["maker"].apply_gradients(zip(a.gradient(maker_loss, maker.trainable_variables), maker.trainable_variables))
    steps["judge"].apply_gradients(zip(b.gradient(judge_loss, judge.trainable_variables), judge.trainable_variables))
    return maker_loss, judge_loss


for k in range(3):
    print([f"{float(v):.5f}" for v in duel(x[:8, :2])])

# Rows of an embedding that were used are the only ones that change.
table = layers.Embedding(5, 2)
table.build((None,))
before = table.embeddings.numpy().copy()
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(table(np.array([1, 3, 3])) ** 2)
gradient = tape.gradient(loss, table.embeddings.value)
print(type(gradient).__name__, gradient.indices.numpy())
sgd = keras.optimizers.SGD(0.1)
sgd.apply_gradients([(gradient, table.embeddings)])
print((table.embeddings.numpy() != before).any(1))
