"""A custom gradient's code runs when a gradient is asked for, not before: it may call its own function."""
import os
import tempfile

import tensorflow as tf
from calls import show, shown

v1 = tf.compat.v1


def number(t):
    return None if t is None else t.numpy().tolist()


@tf.custom_gradient
def sine(x):
    def grad(dy):
        return dy * cosine(x)

    return tf.sin(x), grad


@tf.custom_gradient
def cosine(x):
    def grad(dy):
        return -dy * sine(x)

    return tf.cos(x), grad


@tf.custom_gradient
def exponential(x):
    y = tf.exp(x)

    def grad(dy):
        print("gradient of exponential")
        return dy * exponential(x)

    return y, grad


x = tf.constant([0.5, 1.0])
for f in (sine, cosine, exponential):
    print(f.__name__, number(f(x)))
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = f(x)
            d1 = first.gradient(y, x)
        d2 = second.gradient(d1, x)
    print(number(d1), number(d2), number(third.gradient(d2, x)))
    g = tf.function(f)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = g(x)
    print(number(y), number(tape.gradient(y, x)))


@tf.function
def inside(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = sine(x) * exponential(x)
        d = tape.gradient(y, x)
    return y, d, outer.gradient(d, x)


print([number(t) for t in inside(x)])


@tf.function
def with_gradients(x):
    y = exponential(x)
    d = tf.gradients(y, x)[0]
    return d, tf.gradients(d, x)[0]


print([number(t) for t in with_gradients(x)])

with tf.Graph().as_default():
    a = tf.constant([0.5, 1.0])
    y = sine(a)
    d = tf.gradients(y, a)[0]
    d2 = tf.gradients(d, a)[0]
    d3 = tf.gradients(d2, a)[0]
    with v1.Session() as s:
        print([t.tolist() for t in s.run([y, d, d2, d3])])


# A gradient that nobody asks for never runs: neither its prints nor its mistakes are seen.
@tf.custom_gradient
def careless(x):
    def grad(dy):
        raise ValueError("this gradient was not meant to be asked for")

    return x * 2.0, grad


@tf.custom_gradient
def wrong_count(x, y):
    return x * y, lambda dy: dy


@tf.function
def calls_careless(x):
    return careless(x) + wrong_count(x, x)


print(number(calls_careless(x)))
for f in (careless, tf.function(careless), lambda x: wrong_count(x, x), tf.function(lambda x: wrong_count(x, x))):
    try:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        print(number(tape.gradient(y, x)))
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0][:60])


# In branches and loops.
@tf.function
def branches(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: sine(x * 1.0), lambda: exponential(x * 1.0))


@tf.function
def loops(x):
    return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, sine(y)), [0, x])[1]


@tf.function
def maps(x):
    return tf.map_fn(sine, x) + tf.vectorized_map(lambda t: tf.cos(t), x)


for f in (branches, loops, maps):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    print(f.python_function.__name__, number(y), number(tape.gradient(y, x)))

# Variables.
v = tf.Variable(2.0)


@tf.custom_gradient
def scaled(x):
    y = x * v

    def grad(dy, variables=None):
        print("gradient of scaled", [w.name for w in variables])
        return dy * scaled(tf.ones_like(x)), [tf.reduce_sum(dy * x) * 10.0 for _ in variables]

    return y, grad


for f in (scaled, tf.function(scaled)):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    print([number(t) for t in tape.gradient(y, [x, v])])


# Saved with its gradient.
class Model(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def __call__(self, x):
        return sine(x) * 2.0


path = os.path.join(tempfile.mkdtemp(), "m")
tf.saved_model.save(Model(), path, options=tf.saved_model.SaveOptions(experimental_custom_gradients=True))
loaded = tf.saved_model.load(path)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = loaded(x)
print(number(y), number(tape.gradient(y, x)))
