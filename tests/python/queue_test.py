"""tf.queue; what is expected follows from what queues are."""

import threading

import pytest

import weft as tf


def test_first_in_first_out():
    q = tf.queue.FIFOQueue(10, [tf.int32, tf.string], shapes=[[], []])
    q.enqueue([1, "a"])
    q.enqueue_many([[2, 3], ["b", "c"]])
    assert int(q.size()) == 3
    number, text = q.dequeue()
    assert int(number) == 1 and text.numpy() == b"a"
    numbers, texts = q.dequeue_many(2)
    assert numbers.numpy().tolist() == [2, 3] and texts.numpy().tolist() == [b"b", b"c"]
    q.close()
    assert bool(q.is_closed())
    with pytest.raises(tf.errors.OutOfRangeError):
        q.dequeue()


def test_padding_priority_and_names():
    q = tf.queue.PaddingFIFOQueue(5, [tf.float32], shapes=[[None]])
    q.enqueue([[1.0]])
    q.enqueue([[2.0, 3.0]])
    assert q.dequeue_many(2).numpy().tolist() == [[1.0, 0.0], [2.0, 3.0]]
    p = tf.queue.PriorityQueue(5, [tf.string], [[]])
    for priority, text in ((3, "c"), (1, "a"), (2, "b")):
        p.enqueue([tf.constant(priority, tf.int64), text])
    assert [p.dequeue()[1].numpy() for _ in range(3)] == [b"a", b"b", b"c"]
    named = tf.queue.FIFOQueue(5, [tf.int32, tf.int32], names=["x", "y"], shapes=[[], []])
    named.enqueue({"x": 1, "y": 2})
    assert {k: int(v) for k, v in named.dequeue().items()} == {"x": 1, "y": 2}


def test_a_thread_waits_for_another():
    q = tf.queue.FIFOQueue(1, tf.int32, shapes=[[]])
    got = []
    reader = threading.Thread(target=lambda: got.extend(int(q.dequeue()) for _ in range(20)))
    reader.start()
    for i in range(20):
        q.enqueue(i)
    reader.join(timeout=20)
    assert got == list(range(20))
