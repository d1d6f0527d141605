"""Writes, with real TensorFlow, the files that tests/cpp/input reads and compares with: records, an example, event files.

    python make.py        (needs tensorflow with tensorboard; writes into this folder)
"""
import glob
import os
import pathlib
import shutil

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

here = pathlib.Path(__file__).parent

records = [b"one", b"", b"three" * 100]
for name, compression in (("plain", ""), ("gzip", "GZIP"), ("zlib", "ZLIB")):
    with tf.io.TFRecordWriter(str(here / f"{name}.tfrecord"), compression) as w:
        for r in records:
            w.write(r)

example = tf.train.Example(features=tf.train.Features(feature={
    "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a", b"bc"])),
    "floats": tf.train.Feature(float_list=tf.train.FloatList(value=[1.5, -2.0, 3.25])),
    "ints": tf.train.Feature(int64_list=tf.train.Int64List(value=[7, -1, 2**40])),
    "none": tf.train.Feature(int64_list=tf.train.Int64List()),
}))
(here / "example.pb").write_bytes(example.SerializeToString(deterministic=True))

folder = here / "events"
shutil.rmtree(folder, ignore_errors=True)
writer = tf.summary.create_file_writer(str(folder))
with writer.as_default():
    tf.summary.scalar("loss", 0.5, step=1)
    tf.summary.scalar("loss", 0.25, step=2)
    tf.summary.text("note", "hello *world*", step=3)
    tf.summary.histogram("weights", tf.constant([1.0, 2.0, 2.5, 4.0, 11.0]), step=4, buckets=5)
    tf.summary.histogram("same", tf.constant([3.0, 3.0]), step=4, buckets=3)
    tf.summary.histogram("empty", tf.zeros([0]), step=4, buckets=3)
    tf.summary.image("pixels", tf.constant(np.arange(24, dtype=np.uint8).reshape(1, 2, 4, 3)), step=5)
    tf.summary.image("half", tf.constant([[[[0.0], [0.25]], [[0.5], [1.5]]]]), step=5)
    tf.summary.graph(tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([], tf.float32)).graph)
writer.close()
(path,) = glob.glob(str(folder / "*"))
print(os.path.basename(path))
for event in tf.compat.v1.train.summary_iterator(path):
    if event.HasField("graph_def"):
        print("graph_def", len(event.graph_def), event.step)
    else:
        print(repr(event.SerializeToString()), event)
shutil.move(path, here / "events.tfevents")
folder.rmdir()
