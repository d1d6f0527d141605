"""Readers of version 1 behind handles that are references to two strings."""
import os
import tempfile

import tensorflow as tf

tf1, raw = tf.compat.v1, tf.raw_ops
folder = tempfile.mkdtemp()


def path(name):
    return os.path.join(folder, name)


def show(value):
    if isinstance(value, (list, tuple)):
        return [show(v) for v in value]
    if isinstance(value, bytes):
        return value.decode().replace(folder, "F")
    return show(value.tolist()) if hasattr(value, "tolist") else value


with open(path("a.txt"), "w") as f:
    f.write("head\none\r\ntwo\n\nlast")
with tf.io.TFRecordWriter(path("d.tfrecord")) as w:
    for i in range(3):
        w.write(b"record" + str(i).encode())


def walk(label, make, name, up_to=2):
    with tf1.Graph().as_default(), tf1.Session() as session:
        old = tf1.GraphDef()
        old.versions.producer = 25
        tf.import_graph_def(old, name="")
        queue = raw.FIFOQueue(component_types=[tf.string], shapes=[[]], capacity=9)
        reader = make()
        print(label, reader.shape, reader.op.type)
        one = list(raw.ReaderRead(reader_handle=reader, queue_handle=queue))
        some = list(raw.ReaderReadUpTo(reader_handle=reader, queue_handle=queue, num_records=tf.constant(up_to, tf.int64)))
        counts = [raw.ReaderNumRecordsProduced(reader_handle=reader), raw.ReaderNumWorkUnitsCompleted(reader_handle=reader)]
        session.run(raw.QueueEnqueueMany(handle=queue, components=[[name] * 4]))
        session.run(raw.QueueClose(handle=queue))
        print("  ", show(session.run(one)), session.run(counts))
        print("  ", show(session.run(some)), session.run(counts))
        for state in (raw.ReaderSerializeState(reader_handle=reader), raw.ReaderRestoreState(reader_handle=reader, state="x")):
            try:
                print("  ", len(session.run(state)))
            except tf.errors.OpError as e:
                print("  ", type(e).__name__, str(e).split("\n\t [[{{node")[0].split("\n")[-1])
        session.run(raw.ReaderReset(reader_handle=reader))
        print("  ", show(session.run(one)), session.run(counts))


walk("lines", raw.TextLineReader, path("a.txt"))
walk("lines without heads", lambda: raw.TextLineReader(skip_header_lines=1), path("a.txt"), 9)
walk("records", raw.TFRecordReader, path("d.tfrecord"))
walk("names", raw.IdentityReader, "x", 1)
walk("shared", lambda: raw.IdentityReader(container="c", shared_name="s"), "y", 1)
