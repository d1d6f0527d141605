"""Graphs made by functions as data: operations, names, attributes, control dependencies, pruning."""
import tensorflow as tf


@tf.function
def affine(x, w, b):
    y = tf.matmul(x, w, name="product")
    unused = tf.sin(x)
    return tf.nn.relu(y + b, name="activation")


concrete = affine.get_concrete_function(tf.TensorSpec([None, 3]), tf.TensorSpec([3, 2]), tf.TensorSpec([2]))
graph = concrete.graph
for op in graph.get_operations():
    print(op.name, op.type, [t.name for t in op.inputs], [(t.name, t.shape, t.dtype.name) for t in op.outputs])
op = graph.get_operation_by_name("product")
print(op.get_attr("transpose_a"), op.get_attr("T"), op.type, op.graph is graph, op.control_inputs)
print(graph.get_tensor_by_name("product:0"))
print(graph.get_tensor_by_name("product:0").consumers()[0].name)
print(len(graph.as_graph_def().node), graph.as_graph_def().versions.producer > 0)
print(graph.name.startswith("affine"), isinstance(graph, tf.Graph), graph.building_function)
try:
    graph.get_operation_by_name("nope")
except KeyError as e:
    print(e)
try:
    graph.get_tensor_by_name("product:7")
except KeyError as e:
    print(e)

v = tf.Variable(1.0)


@tf.function
def ordered(x):
    v.assign(x)
    v.assign_add(1.0)
    tf.print("value", v, output_stream="file:///dev/null")
    return v.read_value()


g = ordered.get_concrete_function(tf.TensorSpec([])).graph
print([op.type for op in g.get_operations()])
print({op.name: sorted(c.name for c in op.control_inputs) for op in g.get_operations() if op.control_inputs})


@tf.function
def unused_ops(x):
    tf.gather(x, [1])
    return x


print(unused_ops(tf.constant([0.0])))


@tf.function
def names(x):
    with tf.name_scope("block"):
        a = x + 1.0
        b = x + 2.0
        with tf.name_scope("deep"):
            c = tf.add(a, b, name="sum")
    return c, tf.identity(x), tf.identity(x, name="kept")


for op in names.get_concrete_function(tf.TensorSpec([], name="given")).graph.get_operations():
    print(op.name, op.type)
