"""Gradients through Python code, recomputation, nested functions and loops, eagerly and in functions."""
import numpy as np
import tensorflow as tf
from calls import show, shown


def plain(g):
    return tf.nest.map_structure(lambda t: None if t is None else np.round(t.numpy(), 4).tolist(), g)


def ask(name, f, *args, variables=()):
    for wrap in (lambda f: f, tf.function):
        with shown(), tf.GradientTape() as tape:
            tape.watch(args)
            y = wrap(f)(*args)
            print(name, plain(tf.nest.flatten(y)), plain(tape.gradient(y, [*args, *variables])))


x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
v = tf.Variable([5.0, 6.0])

# Python code.
ask("py_function", lambda x: tf.py_function(lambda t: t * t, [x], tf.float32), x)
ask("two in, two out", lambda x, y: tf.py_function(lambda a, b: (a * b, a + 1.0), [x, y], [tf.float32, tf.float32]), x, y)
ask("branches of Python", lambda x: tf.py_function(lambda t: t * 3.0 if t[0] > 0 else t, [x], tf.float32), x)
ask("numpy_function", lambda x: tf.numpy_function(lambda t: t * t, [x], tf.float32) * x, x)
ask("numpy_function alone", lambda x: tf.numpy_function(lambda t: t * t, [x], tf.float32), x)


# Recomputed.
def block(x):
    print("block")
    return tf.tanh(x * v)


recomputed = tf.recompute_grad(block)
ask("recomputed", recomputed, x, variables=[v])
ask("recomputed twice", lambda x: recomputed(recomputed(x)), x, variables=[v])
ask("recomputed pair", tf.recompute_grad(lambda a, b: (a * b, a + b)), x, y)
with tf.GradientTape() as tape:
    tape.watch(x)
    z = tf.recompute_grad(lambda a, scale=1.0: a * a * scale)(x, scale=3.0)
print(plain(tape.gradient(z, x)))


# Custom gradients with variables.
@tf.custom_gradient
def clipped(x):
    def grad(dy, variables=None):
        return tf.clip_by_value(dy * v, -1.0, 1.0), [dy * 100.0 for _ in variables]

    return x * v, grad


ask("custom", clipped, x, variables=[v])


@tf.custom_gradient
def two(x, y):
    return (x * y, x + y), lambda da, db: (da * 2.0 + db, [db * 3.0][0])


ask("custom of two", two, x, y)
ask("custom in a structure", lambda x, y: tf.custom_gradient(lambda p: (p["a"] * p["b"], lambda d: {"a": d, "b": d * 9.0}))({"a": x, "b": y}), x, y)
ask("passes through", lambda x: tf.grad_pass_through(tf.round)(x * 1.4) * x, x)
ask("stops", lambda x: tf.stop_gradient(x * x) * x, x)
ask("stops in a function", tf.function(lambda x: tf.stop_gradient(x) * x), x)


# Functions in functions.
@tf.function
def inner(x):
    return x * x * v


@tf.function
def middle(x):
    return inner(x) + inner(x * 2.0)


ask("nested", lambda x: middle(x) * inner(x), x, variables=[v])


@tf.function
def tape_inside(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = middle(x)
    return tape.gradient(y, x)


ask("of a gradient", tape_inside, x, variables=[v])

# Loops.
ask("while", lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: [i + 1, a * x], [0, x])[1], x)
ask("bounded", lambda x: tf.while_loop(lambda i, a: True, lambda i, a: [i + 1, a * x], [0, x], maximum_iterations=2)[1], x)
ask("bound not reached", lambda x: tf.while_loop(lambda i, a: i < 2, lambda i, a: [i + 1, a * x], [0, x], maximum_iterations=9)[1], x)
ask("none", lambda x: tf.while_loop(lambda i, a: i < 0, lambda i, a: [i + 1, a * x], [0, x], maximum_iterations=9)[1], x)
ask("with a variable", lambda x: tf.while_loop(lambda i, a: i < 2, lambda i, a: [i + 1, a * v], [0, x])[1], x, variables=[v])
ask("map_fn", lambda x: tf.map_fn(lambda t: t * t + v[0], x), x, variables=[v])
ask("map_fn of two", lambda x, y: tf.map_fn(lambda t: t[0] * t[1], (x, y), fn_output_signature=tf.float32), x, y)
ask("scan", lambda x: tf.scan(lambda a, t: a * t, x), x)
ask("scan backwards", lambda x: tf.scan(lambda a, t: a * t + v[1], x, initializer=1.0, reverse=True), x, variables=[v])
ask("foldl", lambda x: tf.foldl(lambda a, t: a * t, x), x)
ask("foldr", lambda x: tf.foldr(lambda a, t: a / t, x), x)
ask("vectorized", lambda x: tf.vectorized_map(lambda t: tf.sin(t) * t, x), x)
ask("cond", lambda x: tf.cond(x[0] > 0, lambda: x * x, lambda: x), x)
ask("switch_case", lambda x: tf.switch_case(tf.cast(x[0], tf.int32), [lambda: x, lambda: x * v]), x, variables=[v])
ask("case", lambda x: tf.case([(x[0] > 5, lambda: x)], default=lambda: x ** 3), x)


def python_loop(x):
    total = tf.zeros_like(x)
    for i in tf.range(3):
        if tf.reduce_sum(x) > 0:
            total += x * tf.cast(i, tf.float32)
        else:
            total -= x
    return total


ask("autograph", tf.function(python_loop), x)


def arrays(x):
    array = tf.TensorArray(tf.float32, size=2)
    for i in range(2):
        array = array.write(i, x[i] * x)
    return array.stack()


ask("arrays", arrays, x)
