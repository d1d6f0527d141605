"""What grappler's door gives to converters of graphs: nodes that are fetched, and stacks of one tensor in the form that their patterns expect."""

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.grappler import tf_optimizer


def f(n, m):
    tf.reduce_sum(tf.range(n))  # fetched by nothing
    return (
        tf.ones(tf.stack([n + 1])) * 2.0,
        tf.stack([tf.ones([2, 3]) * tf.cast(m, tf.float32)], axis=1),
        tf.stack([n, m]),
    )


graph = tf.Graph()
with graph.as_default():
    n = tf.compat.v1.placeholder(tf.int32, [], name="n")
    m = tf.compat.v1.placeholder(tf.int32, [], name="m")
    results = f(n, m)
    meta = tf.compat.v1.train.export_meta_graph(graph_def=graph.as_graph_def())
fetched = meta.collection_def["train_op"].node_list
fetched.value.extend(r.name for r in results)

config = config_pb2.ConfigProto()
config.graph_options.rewrite_options.optimizers[:] = ["constfold", "function"]
config.graph_options.rewrite_options.min_graph_nodes = -1
made = tf_optimizer.OptimizeGraph(config, meta)
nodes = {node.name: node for node in made.node}
for name in ("stack", "stack_1", "stack_2"):
    node = nodes[name]
    print(name, node.op, len(node.input), sorted(a for a in node.attr if not a.startswith("_")))
    if node.op == "ExpandDims":
        print("  axis", tf.make_ndarray(nodes[node.input[1]].attr["value"].tensor))
print("unused", any(node.op in ("Range", "Sum") for node in made.node))
with tf.Graph().as_default():
    found = tf.import_graph_def(made, return_elements=[r.name for r in results] + ["n:0", "m:0"], name="")
    with tf.compat.v1.Session() as session:
        for value in session.run(found[:3], {found[3]: 2, found[4]: 5}):
            print(value.tolist())
