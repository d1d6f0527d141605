"""The nodes of tf.eye with sizes that are not known when the graph is made."""
import tensorflow as tf

for make, shape in [
    (lambda x: tf.eye(x, dtype=tf.int32), []),
    (lambda x: tf.eye(x[0], x[1], dtype=tf.int64), [2]),
    (lambda x: tf.eye(3, x[1], batch_shape=[2]), [2]),
    (lambda x: tf.eye(3, batch_shape=x), [2]),
    (lambda x: tf.eye(3, 2, batch_shape=[2, x[0]]), [2]),
    (lambda x: tf.eye(3, 2, batch_shape=[2]), [2]),
]:
    concrete = tf.function(make).get_concrete_function(tf.TensorSpec(shape, tf.int32))
    for node in concrete.graph.as_graph_def().node:
        print(node.name, node.op, list(node.input))
    print(concrete(tf.ones(shape, tf.int32) * 2).numpy().tolist())
