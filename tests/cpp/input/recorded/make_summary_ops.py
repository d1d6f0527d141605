"""Records, with real TensorFlow, what the summary ops give: tests/ops/cases/summary.bin (see the README there), the events
that the writer ops write (writer_ops.tfevents), and the texts of their errors on stdout.

    python make_summary_ops.py        (needs tensorflow)
"""
import glob
import os
import pathlib
import shutil
import struct

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import node_def_pb2

here = pathlib.Path(__file__).parent
R = tf.raw_ops
cases = []


def put(out, field, data):
    out += bytes([field << 3 | 2])
    n = len(data)
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n]) + data


def record(op, inputs, **attrs):
    """Puts an op into a graph (for its NodeDef), runs it, and keeps it with inputs and outputs."""
    with tf.Graph().as_default() as g:
        placed = {k: [tf.constant(x) for x in v] if isinstance(v, list) else tf.constant(v) for k, v in inputs.items()}
        out = getattr(R, op)(**placed, **attrs)
        node = node_def_pb2.NodeDef()
        node.CopyFrom(out.op.node_def)
        del node.input[:]
        session = tf.compat.v1.Session()
    try:
        # Eager mode does not know ImageSummary's attribute, which is a tensor.
        value = session.run(out) if op == "ImageSummary" else getattr(R, op)(**inputs, **attrs).numpy()
    except tf.errors.OpError as e:
        print("ERROR", op, e.error_code, repr(e.message[-250:]))
        return
    message = put(b"", 1, node.SerializeToString())
    for v in inputs.values():
        for x in v if isinstance(v, list) else [v]:
            message = put(message, 2, tf.make_tensor_proto(x).SerializeToString())
    # PNG files may be packed otherwise: those are compared by their pixels, with the events below.
    message = put(message, 3, b"" if op == "ImageSummary" else tf.make_tensor_proto(value).SerializeToString())
    cases.append(message)


f = np.float32
record("ScalarSummary", dict(tags="loss", values=f(0.5)))
record("ScalarSummary", dict(tags=np.array([b"a", b"b"]), values=f([1, -2])))
record("ScalarSummary", dict(tags=np.array([[b"a", b"b"]]), values=np.int64([[3, 4]])))
record("ScalarSummary", dict(tags="d", values=np.float64(1e-50)))
record("ScalarSummary", dict(tags=np.array([b"a", b"b"]), values=f(1)))
record("ScalarSummary", dict(tags=np.array([], "S1"), values=f([])))
record("HistogramSummary", dict(tag="h", values=f([1, 2, 2, -3, 0, 1e30, -1e30, 1e-20])))
record("HistogramSummary", dict(tag="h", values=np.int32([[5, 5], [6, 7]])))
record("HistogramSummary", dict(tag="h", values=f([])))
record("HistogramSummary", dict(tag="h", values=f(3)))
record("HistogramSummary", dict(tag="h", values=f([1, np.nan])))
record("HistogramSummary", dict(tag="h", values=f([np.inf])))
record("HistogramSummary", dict(tag=["h"], values=f([1])))
u = np.arange(24, dtype=np.uint8)
record("ImageSummary", dict(tag="i", tensor=u.reshape(2, 3, 4, 1)), max_images=3)
record("ImageSummary", dict(tag="i", tensor=u.reshape(1, 2, 4, 3)), max_images=1)
record("ImageSummary", dict(tag="i", tensor=u.reshape(1, 2, 3, 4)), max_images=2)
record("ImageSummary", dict(tag="i", tensor=u.reshape(1, 3, 4, 2)), max_images=1)
record("ImageSummary", dict(tag="i", tensor=f(u.reshape(2, 2, 2, 3)) / 7), max_images=1)
record("ImageSummary", dict(tag="i", tensor=f(u.reshape(2, 2, 2, 3)) - 11), max_images=5)
record("ImageSummary", dict(tag="i", tensor=np.zeros([1, 2, 2, 1], f)), max_images=1)
bad = f(u.reshape(1, 2, 4, 3))
bad[0, 0, 1, 0], bad[0, 1, 2, 2] = np.nan, np.inf
record("ImageSummary", dict(tag="i", tensor=bad), max_images=1)
record("ImageSummary", dict(tag="i", tensor=bad[..., :1]), max_images=1)
record("ImageSummary", dict(tag="i", tensor=np.full([1, 1, 2, 1], np.nan, f)), max_images=1)
record("ImageSummary", dict(tag="i", tensor=np.float16(u.reshape(1, 2, 4, 3))), max_images=1)
record("ImageSummary", dict(tag="i", tensor=np.float64(u.reshape(1, 2, 4, 3))), max_images=1)
record("ImageSummary", dict(tag="i", tensor=u.reshape(2, 3, 4)), max_images=1)
record("ImageSummary", dict(tag="i", tensor=np.zeros([1, 2, 2, 5], f)), max_images=1)
record("ImageSummary", dict(tag=["i", "j"], tensor=u.reshape(2, 3, 4, 1)), max_images=1)
record("ImageSummary", dict(tag="i", tensor=np.zeros([0, 2, 2, 1], np.uint8)), max_images=1)
w = f(np.sin(np.arange(20))).reshape(2, 5, 2)
record("AudioSummaryV2", dict(tag="a", tensor=w, sample_rate=f(8000)), max_outputs=3)
record("AudioSummaryV2", dict(tag="a", tensor=w[:, :, 0], sample_rate=f(44100)), max_outputs=1)
record("AudioSummaryV2", dict(tag="a", tensor=w[0, :, 0], sample_rate=f(8000)), max_outputs=1)
record("AudioSummaryV2", dict(tag="a", tensor=w * 3, sample_rate=f(0)), max_outputs=1)
record("AudioSummaryV2", dict(tag="a", tensor=w * 3, sample_rate=f(8000)), max_outputs=1)
record("TensorSummary", dict(tensor=f([[1, 2], [3, 4]])), description="d", labels=["l"], display_name="n")
record("TensorSummary", dict(tensor=np.array([b"x", b"yz"])))
meta = tf.compat.v1.SummaryMetadata(plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="p", content=b"c")).SerializeToString()
record("TensorSummaryV2", dict(tag="t", tensor=f([1, 2]), serialized_summary_metadata=meta))
record("TensorSummaryV2", dict(tag="t", tensor=np.array(b"text"), serialized_summary_metadata=b""))
record("TensorSummaryV2", dict(tag="t", tensor=f(1), serialized_summary_metadata=b"\xff\xff"))
record("TensorSummaryV2", dict(tag=["t"], tensor=f(1), serialized_summary_metadata=b""))
one = R.ScalarSummary(tags="a", values=f(1)).numpy()
two = R.HistogramSummary(tag="b", values=f([1])).numpy()
record("MergeSummary", dict(inputs=[one, two]))
record("MergeSummary", dict(inputs=[np.array([one, two])]))
record("MergeSummary", dict(inputs=[one, one]))
record("MergeSummary", dict(inputs=[b"\xff"]))
record("MergeSummary", dict(inputs=[b""]))
with open(here / "../../../ops/cases/summary.bin", "wb") as out:
    for c in cases:
        out.write(struct.pack("<I", len(c)) + c)
print(len(cases), "cases")

folder = here / "writer_events"
shutil.rmtree(folder, ignore_errors=True)
writer = R.SummaryWriter(shared_name="w", container="")


def tell(what, call):
    try:
        call()
        print("OK", what)
    except tf.errors.OpError as e:
        print("ERROR", what, e.error_code, repr(e.message[:250]))


i64 = lambda n: tf.constant(n, tf.int64)
scalar = lambda w, step=1, value=f(0.5), tag="loss": R.WriteScalarSummary(writer=w, step=i64(step), tag=tag, value=value)
tell("not created", lambda: scalar(writer))
tell("flush not created", lambda: R.FlushSummaryWriter(writer=writer))
tell("close not created", lambda: R.CloseSummaryWriter(writer=writer))
tell("bad logdir", lambda: R.CreateSummaryFileWriter(writer=R.SummaryWriter(shared_name="x", container=""), logdir=["a"], max_queue=10, flush_millis=1000, filename_suffix=".v2"))
make = lambda: R.CreateSummaryFileWriter(writer=writer, logdir=str(folder), max_queue=10, flush_millis=120000, filename_suffix=".v2")
tell("create", make)
tell("create again", make)
scalar(writer)
scalar(writer, 2, np.int32(7), "int")
tell("tag", lambda: R.WriteScalarSummary(writer=writer, step=i64(1), tag=["a"], value=f(1)))
tell("scalar of vector", lambda: scalar(writer, value=f([1, 2])))
R.WriteHistogramSummary(writer=writer, step=i64(3), tag="hist", values=f([1, 2, 2, -3]))
R.WriteHistogramSummary(writer=writer, step=i64(3), tag="bools", values=tf.constant([True, False, True]))
tell("histogram nan", lambda: R.WriteHistogramSummary(writer=writer, step=i64(3), tag="hist", values=f([np.nan])))
red = np.uint8([255, 0, 0, 255])
R.WriteImageSummary(writer=writer, step=i64(4), tag="image", tensor=u.reshape(1, 2, 4, 3), bad_color=red, max_images=3)
R.WriteImageSummary(writer=writer, step=i64(4), tag="floats", tensor=bad, bad_color=red, max_images=1)
for tag, tensor in (("negative", f(u.reshape(2, 2, 2, 3)) - 11), ("positive", f(u.reshape(2, 2, 2, 3)) / 7), ("zeros", np.zeros([1, 2, 2, 1], f)),
                    ("grey", bad[..., :1]), ("nothing", np.full([1, 1, 2, 1], np.nan, f)), ("half", np.float16(u.reshape(1, 2, 4, 3))),
                    ("half_negative", np.float16(u.reshape(1, 2, 3, 4)) - 7), ("double", np.float64(u.reshape(1, 2, 3, 4)) / 3)):
    R.WriteImageSummary(writer=writer, step=i64(4), tag=tag, tensor=tensor, bad_color=red, max_images=2)
tell("image", lambda: R.WriteImageSummary(writer=writer, step=i64(4), tag="image", tensor=u.reshape(2, 3, 4), bad_color=red))
tell("bad color", lambda: R.WriteImageSummary(writer=writer, step=i64(4), tag="image", tensor=bad, bad_color=np.uint8([1])))
R.WriteAudioSummary(writer=writer, step=i64(5), tag="audio", tensor=w, sample_rate=f(8000), max_outputs=2)
R.WriteSummary(writer=writer, step=i64(6), tensor=f([1, 2]), tag="tensor", summary_metadata=meta)
R.WriteSummary(writer=writer, step=i64(6), tensor=tf.constant("s"), tag="text", summary_metadata=b"")
tell("metadata", lambda: R.WriteSummary(writer=writer, step=i64(6), tensor=f(1), tag="t", summary_metadata=b"\xff"))
R.WriteRawProtoSummary(writer=writer, step=i64(7), tensor=tf.constant([one, two]))
tell("raw", lambda: R.WriteRawProtoSummary(writer=writer, step=i64(7), tensor=tf.constant(b"\xff")))
event = tf.compat.v1.Event(wall_time=12.5, step=8, summary=tf.compat.v1.Summary.FromString(one)).SerializeToString()
R.ImportEvent(writer=writer, event=event)
tell("import", lambda: R.ImportEvent(writer=writer, event=b"\xff"))
graph = tf.compat.v1.GraphDef(versions=dict(producer=1)).SerializeToString()
R.WriteGraphSummary(writer=writer, step=i64(9), tensor=graph)
tell("graph", lambda: R.WriteGraphSummary(writer=writer, step=i64(9), tensor=b"\xff"))
tell("db", lambda: R.CreateSummaryDbWriter(writer=writer, db_uri="a", experiment_name="", run_name="", user_name=""))
R.FlushSummaryWriter(writer=writer)
R.CloseSummaryWriter(writer=writer)
tell("after close", lambda: scalar(writer))
tell("close twice", lambda: R.CloseSummaryWriter(writer=writer))
(path,) = glob.glob(str(folder / "*"))
for e in tf.compat.v1.train.summary_iterator(path):
    print(e.step, e.WhichOneof("what"), [v.tag for v in e.summary.value], e.wall_time if e.step == 8 else "")
shutil.move(path, here / "writer_ops.tfevents")
folder.rmdir()
