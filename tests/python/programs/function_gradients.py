"""Gradients through functions: outer tapes, tapes inside, persistent ones in graphs, jacobians, several outputs."""
import tensorflow as tf


@tf.function
def outputs(x, n):
    return x**2, x * n, tf.cast(x, tf.int32), {"deep": [tf.sin(x)]}


x = tf.Variable(1.5)
with tf.GradientTape(persistent=True) as tape:
    a, b, c, d = outputs(x, tf.constant(3.0))
print(tape.gradient(a, x), tape.gradient(b, x), tape.gradient(d["deep"][0], x))
print(tape.gradient([a, b], x))


@tf.function
def inside(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * x
    return tape.gradient(y, x), tape.gradient(z, x), tape.gradient(z, y)


print(inside(tf.constant(2.0)))


@tf.function
def jacobian(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stack([x[0] * x[1], x[0] ** 2, tf.reduce_sum(x)])
    return tape.jacobian(y, x)


print(jacobian(tf.constant([2.0, 3.0])))


@tf.function
def hessian(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_prod(x) + x[0] ** 3
        g = inner.gradient(y, x)
    return g, outer.jacobian(g, x)


print(hessian(tf.constant([1.0, 2.0, 3.0])))


@tf.function
def symbolic(x):
    y = tf.sin(x) * x
    (g,) = tf.gradients(y, x)
    (gg,) = tf.gradients(g, x)
    return g, gg


print(symbolic(tf.constant(0.5)))


@tf.function
def stops(x):
    return tf.stop_gradient(x) * x


with tf.GradientTape() as tape:
    y = stops(x)
print(tape.gradient(y, x))
w = tf.Variable(2.0)


@tf.function
def f(x):
    return w * x


@tf.function
def g(x):
    with tf.GradientTape() as tape:
        y = f(x) ** 2
    return tape.gradient(y, w)


with tf.GradientTape() as tape:
    dw = g(tf.constant(3.0))
print(dw, tape.gradient(dw, w))
print(tf.function(lambda t: tf.gradients(tf.reduce_sum(tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * t),
    (0, tf.constant(1.0)))[1]), t))(tf.constant(2.0)))


@tf.RegisterGradient("TimesTen")
def times_ten(op, grad):
    return grad * 10.0


with tf.Graph().as_default() as graph:
    v = tf.compat.v1.placeholder(tf.float32, [])
    with graph.gradient_override_map({"Identity": "TimesTen"}):
        y = tf.identity(v) * 2.0
    (dy,) = tf.gradients(y, v)
    print(tf.compat.v1.Session().run(dy, {v: 1.0}))
with tf.GradientTape() as tape:
    s = tf.constant("a")
    tape.watch(x)
    y = tf.where(x > 1.0, x * 2.0, x * 3.0)
print(tape.gradient(y, x))
