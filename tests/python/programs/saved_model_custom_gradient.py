"""Custom gradients saved with a SavedModel and used after loading, first and second order."""
import os
import tempfile
import tensorflow as tf


class MyModule(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec(None)])
    def call_custom_grad(self, x):
        return clip_gradients(x)


@tf.custom_gradient
def clip_gradients(y):
    def backward(dy):
        return tf.clip_by_norm(dy, 0.5)
    return y, backward


model = MyModule()
path = os.path.join(tempfile.mkdtemp(), "saved_model")
tf.saved_model.save(model, path, options=tf.saved_model.SaveOptions(experimental_custom_gradients=True))
v = tf.Variable(2.0)
loaded = tf.saved_model.load(path)
with tf.GradientTape() as t:
    output = loaded.call_custom_grad(v * v)
print(t.gradient(output, v))
with tf.GradientTape() as t:
    output = model.call_custom_grad(v * v)
print(t.gradient(output, v))


class Deep(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, -1.0], [0.5, 2.0]])

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def forward(self, x):
        h = tf.nn.relu(x @ self.w)
        while tf.reduce_sum(h) < 10.0:
            h = h * 2.0
        return tf.reduce_sum(tf.tanh(h / 10.0))


deep = Deep()
path = os.path.join(tempfile.mkdtemp(), "deep")
tf.saved_model.save(deep, path)
again = tf.saved_model.load(path)
x = tf.constant([[1.0, 2.0]])
for m in (deep, again):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = m.forward(x)
    print(y.numpy(), [g.numpy().round(5).tolist() for g in tape.gradient(y, [m.w, x])])
for step in range(3):
    with tf.GradientTape() as tape:
        y = again.forward(x)
    again.w.assign_add(0.1 * tape.gradient(y, again.w))
    print(step, y.numpy())
print(deep.w.numpy().tolist(), again.w.numpy().round(4).tolist())
