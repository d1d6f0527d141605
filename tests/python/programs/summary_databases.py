"""Summaries in a database: the tables, what each kind of summary leaves in them, two writers of one database."""
import os
import sqlite3
import tempfile

import tensorflow as tf

raw = tf.raw_ops
folder = tempfile.mkdtemp()


def num(v):
    return tf.constant(v, tf.int64)


def writer(name, file, experiment="e", run="r", user="u"):
    w = raw.SummaryWriter(shared_name=name)
    raw.CreateSummaryDbWriter(writer=w, db_uri=os.path.join(folder, file), experiment_name=experiment, run_name=run, user_name=user)
    return w


def ask(file, query):
    connection = sqlite3.connect(os.path.join(folder, file))
    rows = list(connection.execute(query))
    connection.close()
    return rows


def words(text):
    return " ".join(text.replace("(", " ( ").replace(")", " ) ").split()) if text else text


def tables(file):
    print("tags", ask(file, "select tag_name, display_name, plugin_name, hex(plugin_data), run_id is null from Tags order by rowid"))
    print("described", ask(file, "select tag_name, description from Descriptions join Tags on id = tag_id order by Tags.rowid"))
    for row in ask(file, "select tag_name, step, dtype, shape, length(Tensors.data), hex(substr(Tensors.data, 1, 150)), computed_time is null "
                         "from Tensors join Tags on series = tag_id where step is not null order by Tags.rowid, step"):
        print("  ", *row)
    print("strings", ask(file, "select tag_name, idx, hex(substr(TensorStrings.data, 1, 40)) from TensorStrings join Tensors on tensor_rowid = Tensors.rowid "
                               "join Tags on series = tag_id order by Tags.rowid, idx"))
    print("runs", ask(file, "select run_name, experiment_name, user_name, Runs.finished_time is null, is_watching from Runs "
                            "left join Experiments on Runs.experiment_id = Experiments.experiment_id left join Users on Experiments.user_id = Users.user_id order by run_name"))
    print("ids", ask(file, "select count(*), min(id) > 0 from Ids"))


w = writer("first", "a.db")
for name, sql in ask("a.db", "select name, sql from sqlite_master order by name"):
    print(name, words(sql))
print([ask("a.db", f"select count(*) from {t}")[0][0] for t in ("Ids", "Users", "Experiments", "Runs", "Tags", "Tensors")])
for step in range(3):
    raw.WriteScalarSummary(writer=w, step=num(step), tag="scalar", value=2.5 * step)
raw.WriteScalarSummary(writer=w, step=num(1), tag="scalar", value=9.0)
for value in (tf.constant(7), tf.constant(1.5, tf.float64), tf.constant(3, tf.int64)):
    raw.WriteScalarSummary(writer=w, step=num(3), tag=value.dtype.name, value=value)
raw.WriteHistogramSummary(writer=w, step=num(3), tag="histogram", values=[1.0, 2.0, -4.0])
raw.WriteImageSummary(writer=w, step=num(3), tag="image", tensor=tf.zeros([2, 2, 2, 3]), bad_color=tf.constant([255, 0, 0, 255], tf.uint8))
raw.WriteAudioSummary(writer=w, step=num(3), tag="audio", tensor=tf.zeros([1, 4, 1]), sample_rate=8000.0)
raw.WriteSummary(writer=w, step=num(4), tensor=[[1.0, 2.0], [3.0, 4.0]], tag="matrix", summary_metadata="")
raw.WriteSummary(writer=w, step=num(4), tensor=["ab", "c", ""], tag="texts", summary_metadata="")
raw.WriteSummary(writer=w, step=num(4), tensor="one", tag="text", summary_metadata="")
metadata = tf.compat.v1.SummaryMetadata(display_name="shown", summary_description="told", plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="mine", content=b"\x01\x02"))
raw.WriteSummary(writer=w, step=num(5), tensor=[1, 0], tag="flags", summary_metadata=metadata.SerializeToString())
summary = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="imported", simple_value=3.5)])
raw.ImportEvent(writer=w, event=tf.compat.v1.Event(step=9, wall_time=5.0, summary=summary).SerializeToString())
raw.WriteRawProtoSummary(writer=w, step=num(4), tensor=summary.SerializeToString())
print("before", ask("a.db", "select started_time, finished_time from Runs"), ask("a.db", "select started_time from Experiments"))
graph = tf.Graph()
with graph.as_default():
    a = tf.constant([1.0, 2.0], name="a")
    c = tf.constant(1.0, name="c")
    halves = tf.split(a, 2)
    with tf.control_dependencies([c]):
        b = tf.add(a, halves[1], name="s/b")
raw.WriteGraphSummary(writer=w, step=num(3), tensor=graph.as_graph_def().SerializeToString())
raw.FlushSummaryWriter(writer=w)
raw.CloseSummaryWriter(writer=w)
tables("a.db")
print("graphs", ask("a.db", "select hex(graph_def), run_id is null from Graphs"))
print("nodes", ask("a.db", "select node_id, node_name, op, device, length(node_def) > 0 from Nodes order by node_id"))
print("inputs", ask("a.db", "select node_id, idx, input_node_id, input_node_idx, is_control from NodeInputs order by node_id, idx"))

# Another run of the same experiment; a writer without names; one that is there already.
second = writer("second", "a.db", run="again")
raw.WriteScalarSummary(writer=second, step=num(0), tag="scalar", value=1.0)
raw.CloseSummaryWriter(writer=second)
print(ask("a.db", "select count(*) from Users"), ask("a.db", "select count(*) from Experiments"), ask("a.db", "select run_name from Runs order by rowid"))
unnamed = writer("unnamed", "b.db", "", "", "")
raw.CreateSummaryDbWriter(writer=unnamed, db_uri=os.path.join(folder, "c.db"), experiment_name="", run_name="", user_name="")
raw.WriteScalarSummary(writer=unnamed, step=num(0), tag="scalar", value=1.0)
raw.CloseSummaryWriter(writer=unnamed)
tables("b.db")
print(sorted(os.listdir(folder)))
try:
    writer("nowhere", "no/such/folder/d.db")
except tf.errors.OpError as e:
    print(type(e).__name__, e.message.split("}} ")[-1].split(" [Op:")[0].replace(folder, "F"))
third = writer("third", "e.db")
for value in (tf.constant([True]), tf.constant([1], tf.uint8), tf.constant([1], tf.int16), tf.constant([1.0], tf.float16), tf.constant([1j], tf.complex64), tf.constant([1], tf.uint64)):
    try:
        print(value.dtype.name, raw.WriteSummary(writer=third, step=num(0), tensor=value, tag=value.dtype.name, summary_metadata=""))
    except tf.errors.OpError as e:
        print(value.dtype.name, type(e).__name__, e.message.split("}} ")[-1].split(" [Op:")[0])
