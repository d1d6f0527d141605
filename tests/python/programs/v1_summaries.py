"""Summaries of version 1: what the ops give, and files of events."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
with tf.name_scope("outer"):
    a = tf.summary.scalar("my value", 3.0)
    b = tf.summary.scalar("x", 1.5, family="fam")
    c = tf.summary.histogram("h", [1.0, 2.0, 2.0])
d = tf.summary.image("pictures", np.zeros([2, 2, 2, 1], np.float32), max_outputs=1)
e = tf.summary.audio("sound", np.zeros([1, 4, 1], np.float32), 8000)
f = tf.summary.text("words", tf.constant(["one", "two"]))
g = tf.summary.tensor_summary("t", tf.constant([1, 2]), summary_description="d", display_name="n")
print([t.op.name for t in (a, b, c, d, e, f, g)])
print([t.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES)])
merged = tf.summary.merge_all()
two = tf.summary.merge([a, b], collections=["mine"])
print(merged.name, two.name, len(tf.get_collection("mine")), tf.summary.merge_all("none"))
with tf.Session() as session:
    summary = tf.Summary.FromString(session.run(merged))
    for value in summary.value:
        print(value.tag, value.WhichOneof("value"), value.metadata.plugin_data.plugin_name, value.metadata.display_name)
    folder = tempfile.mkdtemp()
    with tf.summary.FileWriter(folder, session.graph, filename_suffix=".end") as writer:
        writer.add_summary(session.run(two), 1)
        writer.add_summary(session.run(f), 1)
        writer.add_summary(session.run(f), 2)
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 0)
        print(writer.get_logdir() == folder)
    print([name.split(".")[:3] + [name.endswith(".end")] for name in os.listdir(folder)])
    for event in tf.train.summary_iterator(os.path.join(folder, os.listdir(folder)[0])):
        print(event.step, event.WhichOneof("what"), [(v.tag, v.HasField("metadata")) for v in event.summary.value])
print(tf.summary.FileWriterCache.get(folder) is tf.summary.FileWriterCache.get(folder))
tf.summary.FileWriterCache.clear()
try:
    tf.summary.text("no", tf.constant(1))
except ValueError as error:
    print(error)
