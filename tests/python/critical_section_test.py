"""tf.CriticalSection: functions under one lock, eagerly, in functions and from threads."""

import threading

import weft as tf


def test_eager_and_traced():
    section, v = tf.CriticalSection(name="section"), tf.Variable(0)
    assert section.execute(lambda: v.assign_add(1)).numpy() == 1

    @tf.function
    def f():
        first = section.execute(lambda: v.assign_add(1))
        return first, section.execute(lambda: (v.read_value(), v * 2))

    first, (second, third) = f()
    assert (first.numpy(), second.numpy(), third.numpy()) == (2, 2, 4)
    assert v.numpy() == 2


def test_threads():
    section, v = tf.CriticalSection(), tf.Variable(0)

    def add():
        for _ in range(50):
            section.execute(lambda: v.assign(v.read_value() + 1))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert v.numpy() == 200
