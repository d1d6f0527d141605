"""tf.summary: what is in the event files. (TensorBoard's plugins tell what the values mean.)"""

import glob

import numpy as np
import pytest
import weft as tf
from weft._src.ops.io_ops import tf_record_iterator
from weft.proto import Event


def _events(folder):
    (file,) = glob.glob(str(folder / "events.out.tfevents.*"))
    for record in tf_record_iterator(file):
        event = Event.FromString(record)
        for value in event.summary.value:
            yield event.step, value.tag, value.metadata.plugin_data.plugin_name, tf.make_ndarray(value.tensor)


def test_kinds(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default():
        with tf.name_scope("ns"):
            assert tf.summary.scalar("a", 3, step=1).numpy()
        tf.summary.histogram("h", [1.0, 2.0, 2.0, 5.0], step=2, buckets=2)
        tf.summary.histogram("one", [4.0, 4.0], step=2, buckets=2)
        tf.summary.text("t", "hello", step=3)
        tf.summary.image("i", tf.zeros([2, 3, 4, 1]), step=4, max_outputs=1)
    writer.close()
    events = list(_events(tmp_path))
    assert [e[:3] for e in events] == [
        (1, "ns/a", "scalars"),
        (2, "h", "histograms"),
        (2, "one", "histograms"),
        (3, "t", "text"),
        (4, "i", "images"),
    ]
    assert events[0][3] == np.float32(3) and events[3][3].item() == b"hello"
    assert events[1][3].tolist() == [[1, 3, 3], [3, 5, 1]] and events[2][3].tolist() == [[3.5, 4.5, 0], [3.5, 4.5, 2]]
    width, height, png = events[4][3].tolist()
    assert (width, height) == (b"4", b"3") and tf.io.decode_png(png).shape == [3, 4, 1]


def test_steps_and_conditions(tmp_path):
    assert not tf.summary.write("nowhere", 1.0, step=0).numpy()
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default():
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.scalar("x", 1.0)
        with tf.summary.record_if(lambda: tf.constant(False)):
            assert not tf.summary.scalar("x", 1.0, step=1).numpy()
        with pytest.raises(ValueError):
            tf.summary.scalar("x", [1.0], step=1)

        @tf.function
        def f(i):
            with tf.summary.record_if(i > 1):
                tf.summary.scalar("in_function", tf.cast(i, tf.float32), step=i)

        for i in range(3):
            f(tf.constant(i, tf.int64))
    writer.close()
    assert [(s, t) for s, t, _, _ in _events(tmp_path)] == [(2, "in_function")]
    with pytest.raises(RuntimeError, match="is already closed"):
        writer.close()
