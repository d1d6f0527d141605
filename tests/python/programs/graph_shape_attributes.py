"""_output_shapes in GraphDefs: what as_graph_def(add_shapes=True) adds and what import_graph_def makes of it."""

import tensorflow as tf

v1 = tf.compat.v1


def shapes(node):
    return [str(tf.TensorShape(s)) for s in node.attr["_output_shapes"].list.shape]


graph = tf.Graph()
with graph.as_default():
    x = v1.placeholder(tf.float32, [None, 3], name="x")
    y = v1.placeholder(tf.float32, name="y")
    z = tf.matmul(x, tf.ones([3, 2]), name="z")
    a, b = tf.split(x, [1, 2], axis=1, name="s")
    tf.reshape(y, [-1, 2], name="r")
    tf.group(z, name="g")
    r = tf.reduce_sum(z, name="total")
plain, shaped = graph.as_graph_def(), graph.as_graph_def(add_shapes=True)
print([n.name for n in plain.node if "_output_shapes" in n.attr])
for node in shaped.node:
    print(node.name, node.op, "_output_shapes" in node.attr, shapes(node))


def imported(def_, name="z:0", **kwargs):
    g = tf.Graph()
    with g.as_default():
        try:
            (t,) = tf.import_graph_def(def_, return_elements=[name], name="", **kwargs)
            print(t.shape, "_output_shapes" in t.op.node_def.attr)
        except ValueError as e:
            print("ValueError:", e)
    return g


imported(plain)
imported(shaped)
imported(shaped, "x:0")
imported(shaped, "s:1")
# More than the rule knows is taken over.
more = tf.compat.v1.GraphDef()
more.CopyFrom(shaped)
for node in more.node:
    if node.name == "y":
        node.attr["_output_shapes"].list.shape[0].CopyFrom(tf.TensorShape([6, 2]).as_proto())
imported(more, "y:0")
imported(more, "r:0")
# What contradicts the rule is an error.
for name, shape in (("z", [None, 5]), ("x", [1, 2, 3]), ("r", [4])):
    wrong = tf.compat.v1.GraphDef()
    wrong.CopyFrom(shaped)
    for node in wrong.node:
        if node.name == name:
            node.attr["_output_shapes"].list.shape[0].CopyFrom(tf.TensorShape(shape).as_proto())
    imported(wrong, name + ":0")
few = tf.compat.v1.GraphDef()
few.CopyFrom(shaped)
for node in few.node:
    if node.name == "s":
        del node.attr["_output_shapes"].list.shape[:]
        node.attr["_output_shapes"].list.shape.add().CopyFrom(tf.TensorShape([None, 1]).as_proto())
imported(few, "s:1")
# Again from the imported graph.
again = imported(shaped).as_graph_def()
print([n.name for n in again.node if "_output_shapes" in n.attr])


@tf.function
def double(x):
    return tf.identity(x * 2, name="out")


with tf.Graph().as_default() as outer:
    double(v1.placeholder(tf.float32, [None, 4], name="p"))
    inner = outer.as_graph_def(add_shapes=True)
for node in inner.node:
    print(node.op, shapes(node))
for f in inner.library.function:
    print([str(tf.TensorShape(s)) for s in f.attr["_input_shapes"].list.shape])
    for node in f.node_def:
        print(node.op, shapes(node))
concrete = double.get_concrete_function(tf.TensorSpec([2, None]))
for node in concrete.graph.as_graph_def(add_shapes=True).node:
    print(node.op, shapes(node))
