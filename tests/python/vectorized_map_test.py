"""tf.vectorized_map beyond values (programs/vectorized_map.py has those): what is refused, told, traced and changed."""

import logging

import numpy as np
import pytest

import weft as tf

X = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def _unique(a):
    return tf.unique(a)[0]


def test_an_op_without_a_rule_runs_row_by_row_and_is_named(caplog):
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        got = tf.vectorized_map(_unique, X)
    np.testing.assert_array_equal(got, X)
    assert "Using a while_loop for converting Unique cause there is no registered converter for this op." in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        np.testing.assert_array_equal(tf.vectorized_map(_unique, X, warn=False), X)
    assert not caplog.text


def test_without_the_loop_it_is_an_error():
    with pytest.raises(ValueError, match="No pfor vectorization defined for Unique"):
        tf.vectorized_map(_unique, X, fallback_to_while_loop=False)
    with pytest.raises(ValueError, match="fallback_to_while_loop"):
        tf.function(lambda x: tf.vectorized_map(_unique, x, fallback_to_while_loop=False))(X)


def test_rows_of_different_shapes_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes during merge"):
        tf.vectorized_map(tf.range, tf.constant([2, 1]), warn=False)


def test_row_by_row_in_a_graph():
    specs = [tf.TensorSpec([None, None])]
    got = tf.function(lambda x: tf.vectorized_map(_unique, x, warn=False), input_signature=specs)(X)
    np.testing.assert_array_equal(got, X)


def test_the_function_is_traced_once():
    traced = []

    def fn(a):
        traced.append(a.shape.as_list())
        return a * 2

    tf.vectorized_map(fn, X)
    assert traced == [[2]]


def test_random_numbers_differ_by_row():
    rows = tf.vectorized_map(lambda a: tf.random.uniform([2]), X).numpy()
    assert rows.shape == (3, 2) and len(np.unique(rows)) == 6
    gamma = tf.vectorized_map(lambda a: tf.random.gamma([4], a), X)
    assert gamma.shape == (3, 4, 2)


def test_no_rows():
    assert tf.vectorized_map(lambda a: a * 2, tf.zeros([0, 2])).shape == (0, 2)
    assert tf.vectorized_map(lambda a: tf.reshape(a, [-1]), tf.zeros([0, 2, 3])).shape == (0, 6)


def test_an_assertion_sees_all_rows():
    def fn(a):
        tf.debugging.assert_less(a[0], 4.0)
        return a

    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.vectorized_map(fn, X)
    tf.vectorized_map(fn, X[:2])


def test_variables_have_gradients():
    v = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.vectorized_map(lambda a: tf.reduce_sum(a * v * v), X)
    np.testing.assert_allclose(tape.gradient(y, v), 2 * v.numpy() * X.numpy().sum(0))


def test_loops_that_end_differently_by_row():
    def halvings(n):
        return tf.while_loop(lambda v, k: v > 1, lambda v, k: (v // 2, k + 1), (n, 0))[1]

    np.testing.assert_array_equal(tf.vectorized_map(halvings, tf.constant([1, 2, 9, 64])), [0, 1, 3, 6])
    none = tf.vectorized_map(halvings, tf.constant([1, 1]))
    np.testing.assert_array_equal(none, [0, 0])


def test_a_branch_that_no_row_takes():
    fn = lambda a: tf.cond(a[0] > 100.0, lambda: tf.reduce_max(a), lambda: a[1])  # noqa: E731
    np.testing.assert_array_equal(tf.vectorized_map(fn, X), [2.0, 4.0, 6.0])


def test_composite_elements_and_results():
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    np.testing.assert_array_equal(tf.vectorized_map(lambda r: tf.reduce_sum(r), ragged), [1.0, 5.0])


def test_jacobian_of_a_gradient_of_python():
    @tf.custom_gradient
    def triple(a):
        return a * 3, lambda dy: dy * 5

    with tf.GradientTape() as tape:
        tape.watch(X)
        y = triple(X) * 2
    np.testing.assert_allclose(tf.reshape(tape.jacobian(y, X), [6, 6]), 10 * np.eye(6))
