"""The GraphDef of traced functions: nodes with their attributes, constants, captures, versions, branches and loops as library functions."""

import re

import tensorflow as tf

weights = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="weights")
step = tf.Variable(0, name="step")
offset = tf.constant([10.0, 20.0])
table = tf.ones([200])


def plain(text):
    """Without the numbers that tell one trace from another."""
    return re.sub(r"((?:_true|_false|_body|_cond|_branch\d)_)\d+(?![0-9])", r"\1N", text)


def show(label, function, *specs):
    concrete = tf.function(function).get_concrete_function(*specs)
    graph_def = concrete.graph.as_graph_def()
    print("==", label, graph_def.versions.producer, graph_def.versions.min_consumer)
    print([t.name for t in concrete.inputs], [t.name for t in concrete.outputs])
    print(concrete.structured_input_signature, concrete.structured_outputs)
    print([(t.dtype.name, t.shape.as_list()) for t in concrete.captured_inputs])
    for node in graph_def.node:
        print("  ", node.name, node.op, list(node.input))
        for key in sorted(node.attr):
            print("      ", key, plain(" ".join(str(node.attr[key]).split())))
    for f in sorted(graph_def.library.function, key=lambda f: plain(f.signature.name)):
        print("  ", plain(f.signature.name), f.signature.is_stateful, sorted(f.attr))
        print("    ", plain(str([a.name for a in f.signature.input_arg])), [a.name for a in f.signature.output_arg])
        print("    ", plain(str(sorted(f.ret.items()))), sorted(f.control_ret.items()))
        for node in f.node_def:
            print("      ", node.name, node.op, plain(str(list(node.input))), sorted(node.attr))


def layer(x):
    return tf.nn.relu(x @ weights + offset) * tf.reduce_mean(table)


show("layer", layer, tf.TensorSpec([None, 2]))


def constants(x):
    return x + 1.5, tf.zeros([2, 2]), tf.ones([3]), tf.constant([1, 2, 3]), tf.constant(True), tf.constant("text"), x[0]


show("constants", constants, tf.TensorSpec([2], name="given"))


def branches(x):
    if x > 0.0:
        step.assign_add(1)
        y = x * weights[0, 0]
    else:
        y = x - tf.reduce_max(offset)
    return y


show("branches", branches, tf.TensorSpec([]))


def loops(x, n):
    for i in tf.range(n):
        x = x * 2.0 + tf.cast(i, tf.float32)
    while x > 100.0:
        x = x / 2.0
    return x


show("loops", loops, tf.TensorSpec([]), tf.TensorSpec([], tf.int32))


def limited(x):
    return tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, v + x), [0, x], maximum_iterations=3)


show("limited", limited, tf.TensorSpec([]))
show("switch", lambda i: tf.switch_case(i, [lambda: 1.0, lambda: 2.0]), tf.TensorSpec([], tf.int32))
