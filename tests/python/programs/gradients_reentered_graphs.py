"""Tapes and graphs that are entered under them: tapes hear of every op of the thread, whichever graph it goes to."""
import tensorflow as tf
from calls import show

v1 = tf.compat.v1


def number(t):
    return None if t is None else t.numpy().tolist()


@tf.function
def again(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        with v1.get_default_graph().as_default():
            y = x * x
        z = y * x
    return tape.gradient(z, x)


@tf.function
def twice(x):
    g = v1.get_default_graph()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        with g.as_default():
            y = x * x
            with g.as_default():
                z = y * x
                inner = tape.gradient(z, x)
    with g.as_default():
        return inner, tape.gradient(z, y)


@tf.function
def entered_first(x):
    with v1.get_default_graph().as_default():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x)
        return tape.gradient(y, x)


x = tf.constant([1.0, 2.0])
print(number(again(x)))
print([number(t) for t in twice(x)])
print(number(entered_first(x)))

v = tf.Variable([1.0, 2.0])


@tf.function
def variable():
    with tf.GradientTape() as tape:
        with v1.get_default_graph().as_default():
            y = v * v
    return tape.gradient(y, v), [w.name for w in tape.watched_variables()] and tf.constant(len(tape.watched_variables()))


print([number(t) for t in variable()])


# Branches, bodies and functions inside: tapes outside of them hear of what happens there.
@tf.function
def in_branch(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x

        def branch():
            w = y * y
            return tape.gradient(w, x)

        return tf.cond(tf.reduce_sum(x) > 0, branch, lambda: x)


@tf.function
def in_body(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x

        def body(i, total):
            return i + 1, total + tape.gradient(y * tf.cast(i, tf.float32), x)

        return tf.while_loop(lambda i, t: i < 4, body, [0, tf.zeros_like(x)])[1]


@tf.function
def in_function(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x

        @tf.function
        def inner():
            return tape.gradient(y * y, x)

        return inner()


for f in (in_branch, in_body, in_function):
    print(f.python_function.__name__, number(f(x)))

with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x

    @tf.function
    def of_eager():
        return tape.gradient(y * 3.0, x)

    print("eager tape", number(of_eager()), number(of_eager()))

    @tf.function
    def of_variable():
        return tape.gradient(v * y, [v, x])

    print("eager tape", [number(t) for t in of_variable()])

# Version 1 graphs under a tape that began outside.
with tf.GradientTape(persistent=True) as tape:
    with tf.Graph().as_default() as g:
        a = tf.constant([3.0, 4.0])
        tape.watch(a)
        b = a * a
        grad = tape.gradient(b, a)
        with g.as_default():
            c = b * a
            grad2 = tape.gradient(c, a)
        with v1.Session() as s:
            print(s.run([grad, grad2]))

# init_scope leaves the graph, and nothing of it is recorded.
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    with tf.init_scope():
        y = x * x
        with tf.GradientTape() as own:
            own.watch(x)
            z = x * x
        inner = own.gradient(z, x)
print(number(tape.gradient(y, x)), number(inner))


@tf.function
def lifted(x):
    with tf.GradientTape() as tape:
        with tf.init_scope():
            y = v * v
        z = y * x
    return tape.gradient(z, v, unconnected_gradients="zero")


print(number(lifted(x)))

# A graph inside of another that is entered again from there.
outer = tf.Graph()
with outer.as_default():
    x1 = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x1)
        with tf.Graph().as_default():
            x2 = tf.constant(5.0)
            tape.watch(x2)
            with outer.as_default():
                y1 = x1 * x1
            y2 = x2 * x2 * x2
            g2 = tape.gradient(y2, x2)
            with v1.Session() as s:
                print(s.run(g2))
    g1 = tape.gradient(y1, x1)
    with v1.Session() as s:
        print(s.run(g1))
