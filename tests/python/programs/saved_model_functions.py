"""Restored functions: several traces, Python arguments, structures, nested functions, control flow, gradients."""
import os
import tempfile
import tensorflow as tf

root = tempfile.mkdtemp()


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0], [2.0]])
        self.steps = tf.Variable(0)

    @tf.function
    def predict(self, x, training=False, scale=1.0):
        y = x @ self.w * scale
        if training:
            self.steps.assign_add(1)
            y = y + 100.0
        return y

    @tf.function
    def structured(self, d):
        return {"total": d["a"] + d["b"][0], "parts": (d["a"], [d["b"][1]])}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def collatz(self, n):
        steps = 0
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps


model = Model()
x = tf.constant([[1.0, 1.0]])
model.predict(x)
model.predict(x, training=True)
model.predict(x, scale=2.0)
model.structured({"a": tf.constant(1), "b": [tf.constant(2), tf.constant(3)]})
path = os.path.join(root, "m")
tf.saved_model.save(model, path)
loaded = tf.saved_model.load(path)
print(loaded.predict(x).numpy(), loaded.predict(x, training=True).numpy(), loaded.predict(x, scale=2.0).numpy())
print(loaded.predict(x, True).numpy(), loaded.steps.numpy(), model.steps.numpy())
print(sorted(loaded.structured({"a": tf.constant(10), "b": [tf.constant(20), tf.constant(30)]}).items()))
print(loaded.collatz(tf.constant(27)).numpy(), loaded.collatz(7).numpy())
try:
    loaded.predict(x, scale=3.0)
except ValueError as e:
    print("ValueError", str(e).splitlines()[0])
print(loaded.predict.pretty_printed_concrete_signatures())

train_x = tf.constant([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
train_y = tf.constant([[5.0], [7.0], [12.0]])
for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((train_x @ loaded.w - train_y) ** 2)
    loaded.w.assign_sub(0.3 * tape.gradient(loss, loaded.w))
print(loss.numpy(), loaded.w.numpy())
again = os.path.join(root, "again")
tf.saved_model.save(loaded, again)
resaved = tf.saved_model.load(again)
print(resaved.predict(x).numpy(), resaved.collatz(6).numpy())
wrapper = tf.Module()
wrapper.inner = loaded
wrapper.apply = tf.function(lambda t: wrapper.inner.predict(t) * 10.0, input_signature=[tf.TensorSpec([1, 2])])
third = os.path.join(root, "third")
tf.saved_model.save(wrapper, third)
loaded_wrapper = tf.saved_model.load(third)
print(loaded_wrapper.apply(x).numpy(), loaded_wrapper.inner.predict(x).numpy())
