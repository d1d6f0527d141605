"""Ops that few programs call by name: loops and calls of functions, checkpoints, summaries, messages, a database."""
import os
import sqlite3
import tempfile

import tensorflow as tf

raw = tf.raw_ops
v1 = tf.compat.v1
folder = tempfile.mkdtemp()
path = lambda name: os.path.join(folder, name)


def show(label, code):
    try:
        value = code()
        print(label, tf.nest.map_structure(lambda v: v.numpy().tolist() if isinstance(v, tf.Tensor) and v.dtype != tf.string else v.numpy() if isinstance(v, tf.Tensor) else v, value))
    except (tf.errors.OpError, ValueError, TypeError) as e:
        print(label, type(e).__name__, str(getattr(e, "message", e)).split("\n")[0])


body = tf.function(lambda i, x: x + tf.cast(i, tf.float32), autograph=False).get_concrete_function(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32))
show("For", lambda: raw.For(start=1, limit=5, delta=1, input=[tf.constant(0.5)], body=body))
twice = tf.function(lambda x: x * 2, autograph=False).get_concrete_function(tf.TensorSpec([2], tf.float32))
show("RemoteCall", lambda: raw.RemoteCall(target="/job:localhost/replica:0/task:0/device:CPU:0", args=[tf.constant([1.0, 2.0])], Tout=[tf.float32], f=twice))
show("PyFuncStateless", lambda: tf.numpy_function(lambda x: x + 1, [tf.constant([1, 2])], tf.int32, stateful=False))
show("NonDeterministicInts", lambda: raw.NonDeterministicInts(shape=[3]).shape.as_list())
show("FakeParam", lambda: raw.FakeParam(dtype=tf.float32, shape=[2, 3]).shape.as_list())

a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
for i, value in enumerate((a, a * 10)):
    raw.SaveV2(prefix=path(f"part{i}"), tensor_names=[f"t{i}"], shape_and_slices=[""], tensors=[value])
raw.MergeV2Checkpoints(checkpoint_prefixes=[path("part0"), path("part1")], destination_prefix=path("whole"), delete_old_dirs=False)
show("MergeV2Checkpoints", lambda: raw.RestoreV2(prefix=path("whole"), tensor_names=["t0", "t1"], shape_and_slices=["", ""], dtypes=[tf.float32, tf.float32]))

# Summaries.
writer = raw.SummaryWriter(shared_name="", container="")
raw.CreateSummaryFileWriter(writer=writer, logdir=folder, max_queue=10, flush_millis=1000, filename_suffix=".rare")
step = tf.constant(3, tf.int64)
raw.WriteScalarSummary(writer=writer, step=step, tag="scalar", value=2.5)
raw.WriteHistogramSummary(writer=writer, step=step, tag="histogram", values=tf.constant([1.0, 2.0, 2.0, -3.0]))
raw.WriteImageSummary(writer=writer, step=step, tag="image", tensor=tf.zeros([1, 2, 2, 1]), bad_color=tf.constant([255, 0, 0, 255], tf.uint8), max_images=1)
raw.WriteAudioSummary(writer=writer, step=step, tag="audio", tensor=tf.zeros([1, 4, 1]), sample_rate=8000.0, max_outputs=1)
raw.WriteGraphSummary(writer=writer, step=step, tensor=v1.GraphDef(versions={"producer": 5}).SerializeToString())
raw.ImportEvent(writer=writer, event=v1.Event(step=9, wall_time=1.0, file_version="brain.Event:2").SerializeToString())
raw.FlushSummaryWriter(writer=writer)
raw.CloseSummaryWriter(writer=writer)
name = [n for n in os.listdir(folder) if n.endswith(".rare")][0]
for record in tf.data.TFRecordDataset([path(name)]):
    e = v1.Event.FromString(record.numpy())
    for value in e.summary.value:
        print("event", e.step, value.tag, value.WhichOneof("value"), value.simple_value, list(value.histo.bucket), value.image.width, value.audio.sample_rate)
    print("event", e.step, e.file_version, len(e.graph_def) > 0)

# Messages.
proto = raw.EncodeProto(sizes=[[1, 1]], values=[tf.constant([[7]], tf.int64), tf.constant([["x"]])], field_names=["step", "file_version"], message_type="tensorflow.Event",
                        descriptor_source="local://")
show("EncodeProto", lambda: proto)

# A database.
with sqlite3.connect(path("rows.db")) as db:
    db.execute("create table t (n integer, s text)")
    db.executemany("insert into t values (?, ?)", [(1, "one"), (2, "two")])
for op in ("SqlDataset", "ExperimentalSqlDataset"):
    d = getattr(raw, op)(driver_name="sqlite", data_source_name=path("rows.db"), query="select n, s from t order by n", output_types=[tf.int64, tf.string], output_shapes=[[], []])
    show(op, lambda: [list(v) for v in tf.data.experimental.from_variant(d, (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.string)))])
