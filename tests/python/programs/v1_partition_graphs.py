"""RunOptions.output_partition_graphs: the graphs that a step ran, in its RunMetadata."""
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
with v1.Graph().as_default() as graph:
    x, y = v1.placeholder(tf.float32, [], name="x"), v1.placeholder(tf.float32, [], name="y")
    total = tf.add(x, y, name="total")
    unused = tf.multiply(x, y, name="unused")
    with v1.Session() as session:
        options, metadata = v1.RunOptions(output_partition_graphs=True), v1.RunMetadata()
        print(session.run(total, {x: 1.0, y: 2.0}, options=options, run_metadata=metadata))
        (part,) = metadata.partition_graphs
        ops = {node.op for node in part.node}
        print(len(metadata.partition_graphs), "Mul" in ops, bool(ops & {"Add", "AddV2"}))
        print({node.device.rpartition("/")[2] for node in part.node if node.name == "total"})
        print(len(metadata.step_stats.dev_stats))
        session.run(total, {x: 1.0, y: 2.0}, run_metadata=metadata)
        print(len(metadata.partition_graphs))
        from tensorflow.core.protobuf import config_pb2

        wanted = config_pb2.CallableOptions(feed=["x:0", "y:0"], fetch=["total:0"], run_options=options)
        call = session._make_callable_from_options(wanted)
        print(call(np.float32(3), np.float32(4), run_metadata=metadata), len(metadata.partition_graphs))
        plain = session._make_callable_from_options(config_pb2.CallableOptions(feed=["x:0", "y:0"], fetch=["total:0"]))
        print(plain(np.float32(3), np.float32(4), run_metadata=metadata), len(metadata.partition_graphs))
