"""What the tape records: stop_recording, reset, stop_gradient, paused and nested tapes, output_gradients."""
import tensorflow as tf

x, y = tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape() as t:
    x_sq = x * x
    with t.stop_recording():
        y_sq = y * y
    z = x_sq + y_sq
grad = t.gradient(z, {"x": x, "y": y})
print("dz/dx:", grad["x"])
print("dz/dy:", grad["y"])

reset = True
with tf.GradientTape() as t:
    y_sq = y * y
    if reset:
        t.reset()
    z = x * x + y_sq
grad = t.gradient(z, {"x": x, "y": y})
print("dz/dx:", grad["x"])
print("dz/dy:", grad["y"])

with tf.GradientTape() as t:
    y_sq = y**2
    z = x**2 + tf.stop_gradient(y_sq)
grad = t.gradient(z, {"x": x, "y": y})
print("dz/dx:", grad["x"], "dz/dy:", grad["y"])

x0, x1 = tf.constant(0.0), tf.constant(0.0)
with tf.GradientTape() as tape0, tf.GradientTape() as tape1:
    tape0.watch(x0)
    tape1.watch(x1)
    y0 = tf.math.sin(x0)
    y1 = tf.nn.sigmoid(x1)
    y = y0 + y1
    ys = tf.reduce_sum(y)
print(tape0.gradient(ys, x0).numpy(), tape1.gradient(ys, x1).numpy())

v = tf.Variable([1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    out = v * v * 3.0
print(tape.gradient(out, v, output_gradients=tf.constant([1.0, 10.0])))
print(tape.gradient([out, out], v, output_gradients=[tf.ones([2]), 2.0 * tf.ones([2])]))
print(tape.gradient(out, [v, [v, {"k": v}]]))

with tf.GradientTape(persistent=True) as outer:
    with tf.GradientTape() as inner:
        z = tf.exp(v)
    first = inner.gradient(z, v)
print(outer.gradient(first, v))

tape = tf.GradientTape()
tape.__enter__()
w = v * 5.0
tape.__exit__(None, None, None)
print(tape.gradient(w, v))
with tf.GradientTape() as tape:
    tape.watch([tf.constant(1.0), v])
    print(len(tape.watched_variables()))
for bad in (lambda: tape.watch(3.0), lambda: tape.watch("s"), lambda: tape.gradient(v, 3.0)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
