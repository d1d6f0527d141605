"""More custom gradients: arguments by keyword, several outputs, second order, variables, inside loops and functions."""
import tensorflow as tf


@tf.custom_gradient
def cube(x):
    y = x**3

    def grad(dy):
        return dy * square_times_three(x)
    return y, grad


@tf.custom_gradient
def square_times_three(x):
    def grad(dy):
        return dy * 1000.0
    return 3.0 * x**2, grad


x = tf.Variable(2.0)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = cube(x)
    first = inner.gradient(y, x)
second = outer.gradient(first, x)
print(y.numpy(), first.numpy(), second.numpy())


@tf.custom_gradient
def reverse(x):
    return tf.identity(x), lambda dy: -dy


@tf.custom_gradient
def weighted(a, b):
    def grad(da, db):
        return 2.0 * da, None
    return (a * b, b), grad


a, b = tf.constant(3.0), tf.constant(4.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch([a, b])
    p, q = weighted(a, b)
    r = reverse(a) * 5.0
print(tape.gradient(p, [a, b]), tape.gradient(r, a))


@tf.function
def loop(x):
    total = 0.0
    for i in tf.range(3):
        total += reverse(x) * tf.cast(i, tf.float32)
    return total


with tf.GradientTape() as tape:
    tape.watch(a)
    y = loop(a)
print(y.numpy(), tape.gradient(y, a).numpy())


@tf.function
def both(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cube(x) + reverse(x)
    return y, tape.gradient(y, x)


print(both(tf.constant(2.0)))
w = tf.Variable([1.0, 2.0], name="w")


@tf.custom_gradient
def layer(x):
    y = x * w

    def grad(dy, variables=None):
        print("variables", [v.name for v in variables])
        return dy * w, [dy * x * 10.0]
    return y, grad


with tf.GradientTape() as tape:
    v = tf.constant([3.0, 4.0])
    tape.watch(v)
    out = tf.reduce_sum(layer(v))
print([g.numpy() for g in tape.gradient(out, [v, w])])


@tf.custom_gradient
def no_variables_argument(x):
    return x * w, lambda dy: dy


try:
    with tf.GradientTape() as tape:
        tape.watch(v)
        out = no_variables_argument(v)
    tape.gradient(out, w)
except TypeError as e:
    print(type(e).__name__)


def straight_through(x):
    return x + tf.stop_gradient(tf.round(x) - x)


with tf.GradientTape() as tape:
    z = tf.Variable([0.4, 1.6])
    y = tf.reduce_sum(straight_through(z) ** 2)
print(y.numpy(), tape.gradient(y, z).numpy())
lookup = tf.custom_gradient(lambda t: (tf.gather(t, [0, 0]), lambda dy: tf.ones_like(t) * tf.reduce_sum(dy)))
with tf.GradientTape() as tape:
    tape.watch(v)
    y = lookup(v) * 2.0
print(tape.gradient(y, v))
