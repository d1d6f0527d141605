"""Names of operations that branches, loops, arrays and maps leave in the graphs of functions."""

import re

import tensorflow as tf

v = tf.Variable([1.0, 2.0], name="v")
c = tf.constant([10.0, 20.0])


def show(function, *specs):
    graph_def = tf.function(function).get_concrete_function(*specs).graph.as_graph_def()
    print(function.__name__)
    for node in graph_def.node:
        print("  ", node.name, node.op, list(node.input))
    for f in sorted(graph_def.library.function, key=lambda f: (len(f.node_def), [n.name for n in f.node_def])):
        print("  ", re.sub(r"_\d+$", "", f.signature.name), sorted(f.control_ret))
        for node in f.node_def:
            print("      ", node.name, node.op, list(node.input))


def nested(x):
    for i in tf.range(3):
        for j in tf.range(2):
            x = x + 1.0
    return x


def leaving(n):
    total = 0
    for i in tf.range(n):
        if i > 5:
            break
        total += i
    return total


def rows(x):
    total = tf.zeros([3])
    for row in x:
        total = total + row
    return total


def arrays(x):
    array = tf.TensorArray(tf.float32, size=3)
    for i in tf.range(3):
        array = array.write(i, x * 2.0)
    return array.stack()


def mapped(x):
    return tf.map_fn(lambda e: e * 2.0, x), tf.scan(lambda a, e: a + e, x), tf.foldl(lambda a, e: a + e, x)


def early(x):
    if x > 0.0:
        return x
    return -x


def effects(x):
    if tf.reduce_sum(v) > 3.0:
        v.assign_add(x)
    return v + c


def scoped(x):
    with tf.name_scope("outer"):
        y = tf.cond(x[0] > 0, lambda: x * v, lambda: tf.zeros_like(x))
        with tf.name_scope("inner"):
            y = tf.add(y, 1.0, name="plus")
    return tf.matmul(tf.reshape(y, [1, 2]), tf.ones([2, 1]), name="product")


scalar, whole, pair = tf.TensorSpec([]), tf.TensorSpec([], tf.int32), tf.TensorSpec([2])
show(nested, scalar)
show(leaving, whole)
show(rows, tf.TensorSpec([None, 3]))
show(arrays, pair)
show(mapped, pair)
show(early, scalar)
show(effects, pair)
show(scoped, pair)
