"""Writes plus_one.pb, the graph of examples/tensorflow_cpp/session.cc: y = PlusOne(x * 2). Needs TensorFlow."""

import os

import tensorflow as tf

with tf.Graph().as_default() as graph:
    x = tf.compat.v1.placeholder(tf.float32, [None], name="x")
    tf.multiply(x, 2.0, name="doubled")
message = graph.as_graph_def()
node = message.node.add(name="y", op="PlusOne", input=["doubled"])
with open(os.path.join(os.path.dirname(__file__), "plus_one.pb"), "wb") as f:
    f.write(message.SerializeToString(deterministic=True))
