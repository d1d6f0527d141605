"""When gradients are None, and what unconnected_gradients says."""
import numpy as np
import tensorflow as tf

x = tf.Variable(2.0)
for epoch in range(2):
    with tf.GradientTape() as tape:
        y = x + 1
    print(type(x).__name__, ":", tape.gradient(y, x))
    x = x + 1

x = tf.Variable([[1.0, 2.0], [3.0, 4.0]], dtype=tf.float32)
with tf.GradientTape() as tape:
    x2 = x**2
    y = np.mean(x2, axis=0)
    y = tf.reduce_mean(y, axis=0)
print(tape.gradient(y, x))

x = tf.constant(10)
with tf.GradientTape() as g:
    g.watch(x)
    y = x * x
print(g.gradient(y, x))

x0 = tf.Variable(3.0)
x1 = tf.Variable(0.0)
with tf.GradientTape() as tape:
    x1.assign_add(x0)
    y = x1**2
print(tape.gradient(y, x0))

x, y = tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape() as tape:
    z = y * y
print(tape.gradient(z, x))
x = tf.Variable([2.0, 2.0])
y = tf.Variable(3.0)
with tf.GradientTape() as tape:
    z = y**2
print(tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO))
print(tf.UnconnectedGradients.NONE, tf.UnconnectedGradients.ZERO.value)

a = tf.constant(1.0)
with tf.GradientTape() as tape:
    b = a * 2
print(tape.gradient(b, a))
with tf.GradientTape() as tape:
    tape.watch(a)
    c = tf.stop_gradient(a * 2) + tf.argmax([a, a]).numpy()
print(tape.gradient(c, a))
with tf.GradientTape() as tape:
    tape.watch(a)
    d = tf.cast(tf.cast(a, tf.int32), tf.float32)
print(tape.gradient(d, a))
image = tf.Variable([[[0.5, 0.0, 0.0]]])
delta = tf.Variable(0.1)
with tf.GradientTape() as tape:
    new_image = tf.image.adjust_contrast(image, delta)
try:
    print(tape.gradient(new_image, [image, delta]))
except LookupError as e:
    print(f"{type(e).__name__}: {e}")
with tf.GradientTape() as tape:
    y = x * 2
try:
    tape.gradient(y, x)
    tape.gradient(y, x)
except RuntimeError as e:
    print(e)
