"""The low-level quickstart: quadratic data, exponential model, batches, epochs, module, save, load."""
import os
import tempfile
import tensorflow as tf

x = tf.cast(tf.linspace(-2, 2, 51), tf.float32)


def f(x):
    return x**2 + 2 * x - 5


y = f(x) + tf.random.stateless_normal([51], seed=[1, 22])


class Model(tf.Module):
    def __init__(self):
        rand_init = tf.constant([1.5, -0.5, 0.75])
        self.w_q = tf.Variable(rand_init[0])
        self.w_l = tf.Variable(rand_init[1])
        self.b = tf.Variable(rand_init[2])

    @tf.function
    def __call__(self, x):
        return self.w_q * (x**2) + self.w_l * x + self.b


quad_model = Model()


def mse_loss(y_pred, y):
    return tf.reduce_mean(tf.square(y_pred - y))


batch_size = 32
dataset = tf.data.Dataset.from_tensor_slices((x, y))
dataset = dataset.shuffle(buffer_size=x.shape[0], seed=5).batch(batch_size)
epochs, learning_rate, losses = 40, 0.05, []
for epoch in range(epochs):
    for x_batch, y_batch in dataset:
        with tf.GradientTape() as tape:
            batch_loss = mse_loss(quad_model(x_batch), y_batch)
        grads = tape.gradient(batch_loss, quad_model.variables)
        for g, v in zip(grads, quad_model.variables):
            v.assign_sub(learning_rate * g)
    loss = mse_loss(quad_model(x), y)
    losses.append(loss)
    if epoch % 10 == 0:
        print(f"Mean squared error for step {epoch}: {loss.numpy():0.3f}")
print([round(float(v), 2) for v in quad_model.variables], len(losses), losses[-1] < losses[0])


class ExportModel(tf.Module):
    def __init__(self, model, mean, std):
        self.model, self.mean, self.std = model, tf.constant(mean), tf.constant(std)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def __call__(self, x):
        return self.model((x - self.mean) / self.std)


folder = os.path.join(tempfile.mkdtemp(), "exported")
export = ExportModel(quad_model, 0.5, 2.0)
tf.saved_model.save(export, folder)
loaded = tf.saved_model.load(folder)
print(tf.reduce_max(tf.abs(loaded(x) - export(x))).numpy(),
      [round(float(t), 1) for t in loaded(tf.constant([0.0, 1.0]))])
