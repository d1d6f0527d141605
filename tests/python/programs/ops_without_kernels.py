"""Ops that are known and have no kernel for CPUs: called, traced, built into graphs, looked at."""
import inspect

import tensorflow as tf


def report(label, fn):
    try:
        print(label, "->", fn())
    except Exception as e:
        print(label, "->", type(e).__name__, "|", str(e).split("with these attrs")[0])


SIZE = dict(num_layers=1, num_units=2, input_size=3, T=tf.float32, S=tf.int32)
report("eager", lambda: tf.raw_ops.CudnnRNNParamsSize(**SIZE))
report("eager without inputs", lambda: tf.raw_ops.InfeedDequeue(dtype=tf.float32, shape=[3]))
report("function", lambda: tf.function(lambda: tf.raw_ops.InfeedDequeue(dtype=tf.float32, shape=[3]))())
report("missing argument", lambda: tf.raw_ops.InfeedDequeue(dtype=tf.float32))
print("signature", inspect.signature(tf.raw_ops.InfeedDequeue), inspect.signature(tf.raw_ops.NcclAllReduce))
print("listed", [n in dir(tf.raw_ops) for n in ("InfeedDequeue", "NcclReduce", "AddV2", "NoSuchOp")])

with tf.Graph().as_default() as graph:
    y = tf.raw_ops.CudnnRNNParamsSize(**SIZE, name="size")
    print("node", y.op.type, y.name, y.dtype, [i.name for i in y.op.inputs], y.op.get_attr("rnn_mode"))
    definition = graph.as_graph_def()
    with tf.compat.v1.Session() as session:
        try:
            session.run(y)
        except tf.errors.InvalidArgumentError as e:
            print("session", type(e).__name__, [l for l in str(e).splitlines() if l.startswith(("Registered", "  <"))])
with tf.Graph().as_default() as other:
    tf.import_graph_def(definition, name="")
    print("imported", [(n.name, n.op) for n in other.as_graph_def().node])
