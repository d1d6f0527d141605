"""tf.debugging.enable_check_numerics: the op that made an infinity or NaN is told, eagerly and in functions."""

import pytest

import weft as tf


@pytest.fixture
def checking():
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


def test_eager(checking):
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        tf.math.log(tf.constant([-1.0, 2.0, 0.0]))
    assert 'in output 0 of eagerly-executing op "Log" (# of outputs: 1)' in e.value.message
    assert "# of -Inf elements: 1\n  # of +NaN elements: 1\n" in e.value.message
    with pytest.raises(tf.errors.InvalidArgumentError, match='op "RealDiv"'):
        tf.constant(1.0) / tf.constant(0.0)
    assert len(tf.unstack(tf.constant([1.0, float("nan")]))) == 2  # only moves values
    assert (tf.constant([1, 2]) + 1).numpy().tolist() == [2, 3]


def test_function(checking):
    @tf.function
    def f(x):
        return tf.math.log(x) * 2.0

    assert f(tf.constant([1.0])).numpy().tolist() == [0.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match='graph op "Log"'):
        f(tf.constant([-1.0]))


def test_off():
    tf.debugging.enable_check_numerics()
    tf.debugging.disable_check_numerics()
    assert tf.math.is_nan(tf.math.log(tf.constant(-1.0))).numpy()
