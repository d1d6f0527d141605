"""tf.autodiff.ForwardAccumulator: variables, functions, structures, nesting with tapes, and what it refuses."""
import numpy as np
import tensorflow as tf
from calls import show, shown


def plain(g):
    return tf.nest.map_structure(lambda t: None if t is None else np.round(t.numpy(), 4).tolist(), g)


x, t = tf.constant([1.0, 2.0]), tf.constant([1.0, 10.0])
v = tf.Variable([3.0, 4.0])
Forward = tf.autodiff.ForwardAccumulator

with Forward(x, t) as acc:
    y = x * x
    z = tf.reduce_sum(y * v)
print(plain(acc.jvp([y, z])), acc.jvp(tf.constant(1.0)), plain(acc.jvp({"a": y, "b": x})))
print(plain(acc.jvp(tf.constant([1.0]), unconnected_gradients="zero")))
print(plain(acc.jvp(tf.constant([1.0]), unconnected_gradients=tf.UnconnectedGradients.ZERO)))
show(lambda: acc.jvp(y, unconnected_gradients="other"))
with Forward(v, t) as acc:
    y = v * v
    w = tf.gather(v, [1, 1, 0])
print(plain(acc.jvp([y, w])))
with Forward([x, v], [t, tf.ones(2)]) as acc:
    y = x * v
print(plain(acc.jvp(y)))
with Forward((x, {"v": v}), (t, {"v": t})) as acc:
    y = tf.sin(x) * v
print(plain(acc.jvp(y)))


@tf.function
def f(x):
    return tf.exp(x) * v, tf.cast(x, tf.int32)


with Forward(x, t) as acc:
    y, i = f(x)
print(plain(acc.jvp(y)), plain(acc.jvp(i)))


@tf.function
def inside(x, t):
    with Forward(x, t) as acc:
        y = x ** 3
        for _ in tf.range(2):
            y = y * x
    return acc.jvp(y)


print(plain(inside(x, t)))

# Second derivatives: forward over forward, forward over reverse, reverse over forward.
with Forward(x, t) as outer:
    with Forward(x, t) as inner:
        y = x ** 3
    first = inner.jvp(y)
print(plain([first, outer.jvp(first), outer.jvp(y)]))
with Forward(x, t) as acc:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x ** 3)
    grad = tape.gradient(y, x)
print(plain([grad, acc.jvp(grad)]))
with tf.GradientTape() as tape:
    tape.watch(x)
    with Forward(x, t) as acc:
        y = x ** 3
    first = acc.jvp(y)
print(plain([first, tape.gradient(first, x)]))


@tf.custom_gradient
def custom(x):
    return x * 2.0, lambda dy: dy * 100.0


with Forward(x, t) as acc:
    y = custom(x)
    z = tf.stop_gradient(x) * x
print(plain(acc.jvp([y, z])))
with Forward(x, t) as acc:
    y = tf.cond(x[0] > 0, lambda: x * x, lambda: x)
    z = tf.map_fn(lambda a: a * a, x)
print(plain(acc.jvp([y, z])))

# Integers have no tangents.
i = tf.constant([1, 2])
with shown(), Forward(i, i) as acc:
    y = i * 2
    print(acc.jvp(y))
with Forward(x, t) as acc:
    y = tf.cast(x, tf.int32)
    k = tf.argmax(x)
print(acc.jvp(y), acc.jvp(k), plain(acc.jvp(y, unconnected_gradients="zero")))

# Mistakes.
show(lambda: Forward(x, tf.constant([1, 2])))
show(lambda: Forward(x, [t]))
show(lambda: Forward([x, x], [t, t]))
show(lambda: Forward([x, v], [t]))
show(lambda: Forward("a", t))
show(lambda: Forward(x, None))
show(lambda: Forward(x, t).jvp(x))
acc = Forward(x, t)
with acc:
    with shown():
        with acc:
            pass
show(lambda: acc._pop_accumulator())
with acc:
    y = x * 3.0
print(plain(acc.jvp(y)))


def nested(primal):
    """The products of the inner accumulator, asked for when both have ended, are seen by the outer one."""
    power = tf.function(lambda x: x**3.5)
    with tf.autodiff.ForwardAccumulator(primal, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(primal, tf.constant(1.0)) as inner:
            out = power(primal)
    once = inner.jvp(out)
    twice = outer.jvp(once)
    print(inner.jvp(outer.jvp(out)))
    return once, twice


print([x.numpy() for x in nested(tf.constant(1.1))])
print([x.numpy() for x in tf.function(lambda: nested(tf.constant(1.1)))()])
