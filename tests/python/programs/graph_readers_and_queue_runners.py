"""Readers of version 1: lines, whole files, records of one length and TFRecords, fed by queues and their runners."""
import os
import tempfile

import tensorflow as tf

tf1 = tf.compat.v1
folder = tempfile.mkdtemp()


def path(name):
    return os.path.join(folder, name)


def show(value):
    if isinstance(value, (list, tuple)):
        return [show(v) for v in value]
    if isinstance(value, bytes):
        return value.decode().replace(folder, "F")
    return show(value.tolist()) if hasattr(value, "tolist") else value


def last_line(e):
    text = str(e).split("\n\t [[{{node")[0].split("\n")[-1]
    return type(e).__name__ + " " + text.replace(folder, "F").split(" '")[0]


with open(path("a.txt"), "w") as f:
    f.write("head\none\r\ntwo\n\nlast")
with open(path("b.txt"), "w") as f:
    f.write("only head\n")
with open(path("c.bin"), "wb") as f:
    f.write(b"HHabcdefghijF")
with tf.io.TFRecordWriter(path("d.tfrecord")) as w:
    for i in range(3):
        w.write(b"record" + str(i).encode())
with tf.io.TFRecordWriter(path("e.tfrecord"), "GZIP") as w:
    w.write(b"packed")


def read_all(label, make, names, up_to=None):
    with tf1.Graph().as_default():
        queue = tf1.train.string_input_producer([path(n) for n in names], num_epochs=1, shuffle=False)
        reader = make()
        got = reader.read(queue) if up_to is None else reader.read_up_to(queue, up_to)
        records, units = reader.num_records_produced(), reader.num_work_units_completed()
        with tf1.Session() as session:
            session.run([tf1.global_variables_initializer(), tf1.local_variables_initializer()])
            coordinator = tf1.train.Coordinator()
            threads = tf1.train.start_queue_runners(session, coordinator)
            print(label, len(threads), reader.supports_serialize, got[0].shape, got[1].shape)
            try:
                while not coordinator.should_stop():
                    print("  ", show(session.run(list(got))))
            except tf.errors.OpError as e:
                print("  ", last_line(e))
            finally:
                coordinator.request_stop()
            print("  ", session.run([records, units]))
            coordinator.join(threads)


read_all("lines", tf1.TextLineReader, ["a.txt", "b.txt"])
read_all("lines without heads", lambda: tf1.TextLineReader(skip_header_lines=1), ["a.txt", "b.txt", "a.txt"])
read_all("lines in bunches", tf1.TextLineReader, ["a.txt", "b.txt"], up_to=3)
read_all("files", tf1.WholeFileReader, ["b.txt", "a.txt"])
read_all("missing file", tf1.WholeFileReader, ["nothing"])
read_all("names", tf1.IdentityReader, ["x", "y"])
read_all("fixed", lambda: tf1.FixedLengthRecordReader(5, header_bytes=2, footer_bytes=1), ["c.bin"])
read_all("hops", lambda: tf1.FixedLengthRecordReader(4, header_bytes=2, footer_bytes=1, hop_bytes=3), ["c.bin"])
read_all("records", tf1.TFRecordReader, ["d.tfrecord"])
read_all("records in bunches", tf1.TFRecordReader, ["d.tfrecord", "d.tfrecord"], up_to=2)
read_all("packed", lambda: tf1.TFRecordReader(options=tf.io.TFRecordOptions("GZIP")), ["e.tfrecord"])

with tf1.Graph().as_default():
    queue = tf1.FIFOQueue(9, [tf.string], shapes=[[]])
    fill, close = queue.enqueue_many([["p", "q", "r"]]), queue.close()
    reader = tf1.IdentityReader()
    got, state = reader.read(queue), reader.serialize_state()
    text = tf1.placeholder(tf.string, [])
    restore, reset, records = reader.restore_state(text), reader.reset(), reader.num_records_produced()
    with tf1.Session() as session:
        session.run(fill)
        print(show(session.run(list(got))), session.run(state))
        saved = session.run(state)
        print(show(session.run(list(got))), session.run(records))
        session.run(restore, {text: saved})
        print(session.run(records), session.run(state))
        session.run(reset)
        print(session.run(records), session.run(state))
        for bad in (b"\xff", b"\x08\x05\x10\x02"):
            try:
                session.run(restore, {text: bad})
            except tf.errors.OpError as e:
                print(type(e).__name__)
        session.run(close)
        print(show(session.run(list(got))))
        try:
            session.run(list(got))
        except tf.errors.OpError as e:
            print(last_line(e))

# Handles of the first kind: references to two strings.
raw = tf.raw_ops
with tf1.Graph().as_default(), tf1.Session() as session:
    queue = raw.FIFOQueue(component_types=[tf.string], shapes=[[]], capacity=9)
    other = tf1.FIFOQueue(9, [tf.string], shapes=[[]])
    fake = raw.FakeQueue(resource=other.queue_ref)
    reader = raw.WholeFileReader()
    names = [path(n) for n in ("b.txt", "b.txt", "b.txt")]
    session.run(raw.QueueEnqueueMany(handle=queue, components=[names]))
    session.run(other.enqueue_many([names[:1]]))
    print(reader.shape, fake.shape)
    one = raw.ReaderRead(reader_handle=reader, queue_handle=queue)
    some = raw.ReaderReadUpTo(reader_handle=reader, queue_handle=queue, num_records=tf.constant(2, tf.int64))
    by_fake = raw.ReaderRead(reader_handle=reader, queue_handle=fake)
    counts = [raw.ReaderNumRecordsProduced(reader_handle=reader), raw.ReaderNumWorkUnitsCompleted(reader_handle=reader)]
    state = raw.ReaderSerializeState(reader_handle=reader)
    print(show(session.run(list(one))), show(session.run(list(some))), show(session.run(list(by_fake))), session.run(counts))
    saved = session.run(state)
    print(session.run(raw.QueueSize(handle=queue)), session.run(raw.QueueSize(handle=fake)))
    session.run(raw.ReaderReset(reader_handle=reader))
    print(session.run(counts), session.run(state))
    session.run(raw.ReaderRestoreState(reader_handle=reader, state=saved))
    print(session.run(counts))

with tf1.Graph().as_default(), tf1.Session() as session:
    v = raw.VariableV2(shape=[2], dtype=tf.float32)
    w = raw.DebugGradientRefIdentity(input=v)
    session.run(raw.Assign(ref=w, value=[1.0, 2.0]))
    print(session.run(v), session.run(raw.DebugGradientIdentity(input=v)))

with tf1.Graph().as_default(), tf1.Session() as session:
    try:
        session.run(tf1.LMDBReader().num_records_produced())
    except tf.errors.OpError as e:
        print(last_line(e))

with tf1.Graph().as_default():
    numbers = tf1.train.range_input_producer(5, num_epochs=2, shuffle=False).dequeue()
    row = tf1.train.slice_input_producer([tf.constant([[1, 2], [3, 4], [5, 6]]), tf.constant(["a", "b", "c"])], num_epochs=1, shuffle=False)
    batches = tf1.train.batch([numbers, numbers * numbers], 4, allow_smaller_final_batch=True)
    named = tf1.train.batch({"row": row[0], "text": row[1]}, 2)
    mixed = tf1.train.shuffle_batch([numbers], 3, capacity=20, min_after_dequeue=1)
    print([b.shape for b in batches], named["row"].shape, mixed.shape, len(tf1.get_collection("queue_runners")))
    with tf1.Session() as session:
        session.run(tf1.local_variables_initializer())
        coordinator = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(coord=coordinator)
        print(sorted(show(session.run(named)["text"])))
        coordinator.request_stop()
        coordinator.join(threads)
        print(coordinator.should_stop(), coordinator.joined)

for build in (tf1.TextLineReader, lambda: tf1.train.string_input_producer(["a"]), lambda: tf1.train.batch([tf.constant(1)], 2)):
    try:
        build()
    except (RuntimeError, ValueError) as e:
        print(type(e).__name__, e)
