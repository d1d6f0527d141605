"""Jacobians, batch Jacobians, Hessians, a Newton step."""
import tensorflow as tf

x = tf.linspace(-2.0, 2.0, 5)
delta = tf.Variable(0.0)
with tf.GradientTape() as tape:
    y = tf.nn.sigmoid(x + delta)
dy_dx = tape.jacobian(y, delta)
print(y.shape, dy_dx.shape)
print(dy_dx)

x = tf.constant([[0.5, -1.0], [1.0, 2.0], [0.25, 0.75]])
w = tf.Variable([[0.1, 0.2, 0.3], [-0.4, 0.5, -0.6]])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = tf.nn.relu(x @ w)
j = tape.jacobian(y, w)
print(y.shape, w.shape, j.shape)
print(tf.reduce_sum(j, axis=[0, 1]))
print(tape.jacobian(y, w, experimental_use_pfor=False).shape)
g = tape.gradient(y, w)
print(tf.reduce_max(tf.abs(g - tf.reduce_sum(j, axis=[0, 1]))).numpy() < 1e-5)
print(tape.jacobian(y, {"x": x, "w": w})["x"].shape)
jb = tape.batch_jacobian(y, x)
print(jb.shape)
print(jb)
print(tape.batch_jacobian(y, x, experimental_use_pfor=False)[1])

v = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        f = tf.reduce_sum(v**3) + v[0] * v[1] * v[2]
    grad = t1.gradient(f, v)
h = t2.jacobian(grad, v)
print(grad)
print(h)
update = tf.linalg.solve(h + 1e-3 * tf.eye(3), grad[:, tf.newaxis])
v.assign_sub(0.5 * tf.squeeze(update, 1))
print(v)

a = tf.Variable(2.0)
with tf.GradientTape() as tape:
    out = a * a
print(tape.jacobian(out, a))
with tf.GradientTape() as tape:
    out = tf.constant([1.0, 2.0]) * 2.0
print(tape.jacobian(out, a))
with tf.GradientTape() as tape:
    out = tf.constant([1.0, 2.0]) * 2.0
print(tape.jacobian(out, a, unconnected_gradients="zero"))
try:
    with tf.GradientTape() as tape:
        tape.watch(x)
        s = tf.reduce_sum(x, axis=0)
    tape.batch_jacobian(s, x)
except ValueError as e:
    print(e)
