"""tf.CriticalSection: functions under one lock, eagerly, in functions and from threads."""

import threading

import pytest

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


def test_a_section_is_not_entered_twice():
    section, other = tf.CriticalSection(shared_name="one"), tf.CriticalSection(shared_name="one")
    inside = lambda: section.execute(lambda: tf.constant(1))  # noqa: E731
    for first in (section, other):
        with pytest.raises(ValueError, match="Attempting to lock a CriticalSection .* in which we are already running"):
            first.execute(inside)
        with tf.Graph().as_default():
            with pytest.raises(
                ValueError, match="Attempting to lock a CriticalSection .* in which we are already running"
            ):
                tf.CriticalSection(shared_name="g").execute(
                    lambda: tf.CriticalSection(shared_name="g").execute(lambda: tf.constant(1))
                )
    assert inside().numpy() == 1


def test_sections_of_a_graph_do_not_share_resources():
    with tf.Graph().as_default() as graph:
        v = tf.Variable(0)
        a, b = tf.CriticalSection(name="a"), tf.CriticalSection(name="b")
        assert (a.name, b.name) == ("a", "b")
        out = [a.execute(lambda: v.assign_add(1)) for _ in range(3)]
        with pytest.raises(ValueError, match="requested exclusive resource access of this resource"):
            b.execute(lambda: v.assign_add(1))
        with pytest.raises(ValueError, match="requested exclusive resource access of this resource"):
            b.execute(lambda: v.assign_add(1), exclusive_resource_access=False)
        assert len(graph.get_collection("critical_sections")) == 2
        assert len(graph.get_collection("critical_section_executions")) == 3
        with tf.compat.v1.Session() as session:
            session.run(v.initializer)
            assert sorted(session.run(out)) == [1, 2, 3]
