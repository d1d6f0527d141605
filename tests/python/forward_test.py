"""tf.autodiff.ForwardAccumulator, tf.gradients, tf.hessians and gradients that programs register. Values were read off
TensorFlow 2.21 or follow from arithmetic."""

import numpy as np
import pytest

import weft as tf
from weft._src.framework.graph import get_default_graph

x = tf.constant(2.0)
one = tf.constant(1.0)
Acc = tf.autodiff.ForwardAccumulator


def values(r):
    return tf.nest.map_structure(lambda t: None if t is None else t.numpy().tolist(), r)


def plain():
    with Acc(x, one) as acc:
        y = x**3
    return acc.jvp(y), acc.jvp(x), acc.jvp(tf.constant(3.0)), acc.jvp(tf.constant(3.0), unconnected_gradients="zero")


def forward_over_backward():
    with Acc(x, one) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        d = tape.gradient(y, x)
    return d, acc.jvp(d)


def backward_over_forward():
    with tf.GradientTape() as tape:
        tape.watch(x)
        with Acc(x, one) as acc:
            y = x**4
        j = acc.jvp(y)
    return j, tape.gradient(j, x)


def nested():
    with Acc(x, one) as outer:
        with Acc(x, one) as inner:
            y = x**5
            j = inner.jvp(y)
    return j, outer.jvp(j)


@tf.function
def power(x):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]


def through_a_function():
    with Acc(x, one) as acc:
        y = power(x)
    return acc.jvp(y)


CASES = [
    (plain, (12.0, 1.0, None, 0.0)),
    (forward_over_backward, (12.0, 12.0)),
    (backward_over_forward, (32.0, 48.0)),
    (nested, (80.0, 160.0)),
    (through_a_function, 32.0),
]


@pytest.mark.parametrize("f, want", CASES)
@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_forward_mode(f, want, wrap):
    assert values(wrap(f)()) == want


def test_forward_mode_of_ops():
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with Acc(a, tf.ones([2, 2])) as acc:
        ys = [tf.matmul(a, a), tf.linalg.inv(a), tf.gather(a, [1, 1]), tf.maximum(a - 2.5, 0.0)]
    got = [acc.jvp(y).numpy() for y in ys]
    want = [[[7, 9], [11, 13]], [[-0.5, 0.5], [0.5, -0.5]], [[1, 1], [1, 1]], [[0, 0], [1, 1]]]
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, w, atol=1e-5)


def test_forward_mode_of_variables_and_structures():
    v = tf.Variable([1.0, 2.0, 3.0])
    with Acc(v, tf.constant([1.0, 0.0, 2.0])) as acc:
        y = tf.reduce_sum(v**3)
    assert acc.jvp(y).numpy() == 57.0 and acc.jvp(v).numpy().tolist() == [1.0, 0.0, 2.0]
    a, b = tf.constant([1.0, 2.0]), tf.constant(3.0)
    with Acc([a, b], [tf.constant([1.0, 1.0]), tf.constant(2.0)]) as acc:
        y = {"p": a * b, "q": [b * b]}
    assert values(acc.jvp(y)) == {"p": [5.0, 7.0], "q": [12.0]}
    with pytest.raises(ValueError, match="was specified as a primal multiple times"):
        Acc([x, x], [x, x])
    with pytest.raises(ValueError, match="Accumulator is already recording."):
        with Acc(x, x) as acc, acc:
            pass


def in_function(f):
    return values(tf.function(f)())


def test_gradients_in_graphs():
    def chain(stop=False):
        a = tf.constant(3.0)
        b = a * a
        return tf.gradients(b * a, [a] if stop else [a, b], stop_gradients=[b] if stop else None)

    assert in_function(chain) == [27.0, 3.0] and in_function(lambda: chain(stop=True)) == [9.0]
    a = tf.constant([1.0, 2.0])
    assert in_function(lambda: tf.gradients([a * a, a], a, grad_ys=[tf.constant([2.0, 3.0]), None])) == [[5.0, 13.0]]
    assert in_function(lambda: tf.gradients(tf.constant(1.0), [a], unconnected_gradients="zero")) == [[0.0, 0.0]]
    v = tf.Variable([1.0, 2.0])
    assert in_function(lambda: tf.gradients(v * v, v)) == [[2.0, 4.0]]
    assert in_function(lambda: tf.hessians(tf.reduce_sum(tf.identity(v) ** 3), [v])) == [[[6.0, 0.0], [0.0, 12.0]]]
    with pytest.raises(
        RuntimeError,
        match="tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.",
    ):
        tf.gradients(x, x)


@tf.RegisterGradient("WeirdSquare")
def _weird(op, dy):
    return dy * 100.0 * op.inputs[0]


@tf.function
def overridden(a):
    with get_default_graph().gradient_override_map({"Square": "WeirdSquare"}):
        b = tf.square(a)
    return b


def test_registered_gradients():
    def graph():
        a = tf.constant(3.0)
        with get_default_graph().gradient_override_map({"Square": "WeirdSquare"}):
            b = tf.square(a)
        return tf.gradients(b + tf.square(a), a)

    assert in_function(graph) == [306.0]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = overridden(x)
    assert tape.gradient(y, x).numpy() == 200.0
    with pytest.raises(KeyError, match="Registering two gradient with name 'WeirdSquare'!"):
        tf.RegisterGradient("WeirdSquare")(lambda op, dy: dy)
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.no_gradient(3)


def test_a_tape_in_a_function_watches_tensors_from_outside():
    def g(op):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = op(x)
        return tape.gradient(y, x)

    assert in_function(lambda: [g(lambda x: x * x), g(lambda x: tf.convert_to_tensor(x) * 5.0), g(tf.identity)]) == [
        4.0,
        5.0,
        1.0,
    ]


def test_a_variable_as_target():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v
    assert tape.gradient(y, v).numpy().tolist() == [1.0, 1.0]
