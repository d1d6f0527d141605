"""Graphs around graphs: outer_graph, building_function, inside_function, init_scope."""
import re

import tensorflow as tf

v1 = tf.compat.v1
top = v1.get_default_graph()


def chain():
    """The graphs from here outwards."""
    out, g = [], v1.get_default_graph()
    while g is not None and len(out) < 10:
        out.append((re.sub(r"_\d+$", "", getattr(g, "name", "graph")), g.building_function))
        g = getattr(g, "outer_graph", None)
    return out


def where(what):
    print(what, chain(), tf.inside_function(), tf.executing_eagerly(), v1.executing_eagerly_outside_functions())


where("outside")


@tf.function
def f(x):
    where("function")
    g = v1.get_default_graph()
    print(g.outer_graph is g, g.outer_graph is top, isinstance(g.outer_graph, tf.Graph))
    with g.as_default():
        where("entered again")
        print(v1.get_default_graph() is g)
    with tf.control_dependencies(None):
        where("no dependencies")
        print(v1.get_default_graph() is g)
    with tf.control_dependencies([x]):
        with tf.control_dependencies(None):
            where("no dependencies inside some")
    with tf.init_scope():
        where("init_scope")
        with tf.init_scope():
            where("init_scope in init_scope")
    with tf.Graph().as_default():
        where("graph in function")
        with tf.init_scope():
            where("init_scope there")

    def branch():
        where("branch")
        inner = v1.get_default_graph()
        print(inner.outer_graph is g)
        with tf.init_scope():
            where("init_scope of a branch")
        return x

    y = tf.cond(x > 0, branch, lambda: x)

    def body(i, z):
        where("body")
        print(v1.get_default_graph().outer_graph is g)
        return i + 1, z * 2.0

    def condition(i, z):
        where("condition")
        return i < 2

    z = tf.while_loop(condition, body, [0, y])[1]
    return z


print(f(tf.constant(1.0)).numpy())
print(f.get_concrete_function(tf.TensorSpec([], tf.float32)).graph.outer_graph is top)


@tf.function
def inner(x):
    where("inner function")
    return x


@tf.function
def outer(x):
    where("outer function")
    return inner(x)


outer(tf.constant(1.0))


def mapped(x):
    where("dataset")
    return x


list(tf.data.Dataset.range(2).map(mapped))


@tf.function
def with_dataset():
    total = tf.constant(0, tf.int64)
    for x in tf.data.Dataset.range(2).map(mapped):
        total += x
    return total


print(with_dataset().numpy())

with tf.Graph().as_default() as g:
    where("version 1")
    print(hasattr(g, "outer_graph"), v1.get_default_graph() is g)
    with tf.init_scope():
        where("init_scope in version 1")
        print(v1.get_default_graph() is g)
    with tf.Graph().as_default() as h:
        where("version 1 in version 1")
        with tf.init_scope():
            print(v1.get_default_graph() is h)

    @tf.function
    def called(x):
        where("function in version 1")
        print(v1.get_default_graph().outer_graph is g)
        with tf.init_scope():
            where("init_scope in a function in version 1")
            print(v1.get_default_graph() is g)
        return x

    called(tf.constant(1.0))
    tf.cond(tf.constant(True), lambda: where("branch in version 1") or tf.constant(1.0), lambda: tf.constant(2.0))


# What init_scope lifts: names, devices, control dependencies, tapes.
@tf.function
def lifts(x):
    with tf.name_scope("a"):
        with tf.init_scope():
            c = tf.constant(1.0)
            v = tf.Variable(3.0, name="v") if not made else made[0]
            kinds.update((type(c).__name__, v.name))
            made.append(v)
    return x + c + v


made, kinds = [], set()
print(lifts(tf.constant(1.0)).numpy(), sorted(kinds))


@tf.function
def leaks(x):
    with tf.init_scope():
        return x + 1.0


try:
    leaks(tf.constant(1.0))
except TypeError as error:
    print([line.strip() for line in str(error).splitlines() if "out of scope and" in line])
print(tf.inside_function(), chain() == [("graph", False)])
