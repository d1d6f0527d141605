"""Gradients of integer results: of functions zero where gradients of gradients may be asked for, None elsewhere."""
import tensorflow as tf

x, z = tf.constant([1.0, 2.0]), tf.constant(3.0)
v = tf.Variable([1.0, 2.0])


@tf.function
def both(x):
    return x * v, tf.cast(x, tf.int32), tf.argmax(x)


@tf.function
def apart(x, z):
    return x * 2, tf.cast(z, tf.int32)


@tf.function
def alone(x):
    return tf.cast(x, tf.int32)


@tf.function
def of_variable():
    return v * 2, tf.cast(v, tf.int32)


def show(name, grads):
    print(name, [None if g is None else g.numpy().tolist() for g in tf.nest.flatten([grads])])


for persistent in (False, True):
    def tape():
        return tf.GradientTape(persistent=persistent)

    with tape() as t:
        t.watch(x)
        y = both(x)
    show("both", t.gradient(y[1], [x, v]))
    with tape() as t:
        t.watch(x)
        y = both(x)
    show("index", t.gradient(y[2], [x, v]))
    with tape() as t:
        t.watch(x)
        y = both(x)
    show("sum", t.gradient([y[0], y[1]], [x, v]))
    with tape() as t:
        t.watch([x, z])
        y = apart(x, z)
    show("apart", t.gradient(y[1], [x, z]))
    with tape() as t:
        t.watch(x)
        y = alone(x)
    show("alone", t.gradient(y, [x]))
    with tape() as t:
        y = of_variable()
    show("variable", t.gradient(y[1], [v]))
    with tape() as t:
        t.watch(x)
        y = both(x)[1] + 1
    show("behind", t.gradient(y, [x]))
    with tape() as t:
        t.watch(x)
        y = tf.cast(both(x)[1], tf.float32) * 2
    show("cast", t.gradient(y, [x]))
    with tape() as t:
        t.watch(x)
        y = tf.cast(x, tf.int32)
    show("op", t.gradient(y, [x]))
    with tape() as t:
        t.watch(x)
        y = both(x * 2)
    show("before", t.gradient(y[1], [x]))

with tf.GradientTape() as outer, tf.GradientTape() as inner:
    outer.watch(x)
    inner.watch(x)
    y = both(x)
show("inner", inner.gradient(y[1], [x, v]))
show("outer", outer.gradient(y[1], [x, v]))


@tf.function
def traced(x, z):
    with tf.GradientTape() as t:
        t.watch([x, z])
        y = both(x)
    a = t.gradient(y[1], [x, v])
    with tf.GradientTape() as t:
        t.watch([x, z])
        y = apart(x, z)
    b = t.gradient(y[1], [x, z])
    with tf.GradientTape() as t:
        t.watch(x)
        y = alone(x)
    return a, b, t.gradient(y, [x])


show("traced", traced(x, z))
