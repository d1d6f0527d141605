"""tf.GradientTape. What is expected was read off TensorFlow 2.21 or follows from arithmetic."""

import pytest

import weft as tf
from weft._src.raw import raw

x3 = tf.constant(3.0)


def test_gradient_of_a_tensor_and_a_variable():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x3)
        y = x3 * x3 * v
    assert [g.numpy() for g in tape.gradient(y, [x3, v])] == [12.0, 9.0]
    assert tape.watched_variables() == (v,) or tape.watched_variables()[0] is v


def test_structures_and_unconnected():
    v, w = tf.Variable(2.0), tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = {"a": v * v, "b": [v + 1, x3]}
    got = tape.gradient(y, {"z": v, "q": (x3, w)})
    assert got["z"].numpy() == 5.0 and got["q"][0].numpy() == 1.0 and got["q"][1] is None
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.gradient(y, w, unconnected_gradients="zero").numpy().tolist() == [0.0, 0.0]
    with tf.GradientTape() as tape:
        y = v * v
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'foo'"):
        tape.gradient(y, w, unconnected_gradients="foo")


def test_a_tape_answers_once():
    with tf.GradientTape() as tape:
        tape.watch(x3)
        y = x3 * x3
    tape.gradient(y, x3)
    with pytest.raises(
        RuntimeError, match="A non-persistent GradientTape can only be used to compute one set of gradients"
    ):
        tape.gradient(y, x3)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x3)
        y = x3 * x3
    assert tape.gradient(y, x3).numpy() == tape.gradient(y, x3).numpy() == 6.0


def test_errors():
    with tf.GradientTape() as tape:
        with pytest.raises(
            ValueError, match="Passed in object 3.0 of type 'float', not tf.Tensor or tf.Variable or ExtensionType."
        ):
            tape.watch(3.0)
        with pytest.raises(
            ValueError, match="Tape is still recording, This can happen if you try to re-enter an already-active tape."
        ):
            with tape:
                pass
    with pytest.raises(TypeError, match="Argument `target` should be a list or nested structure"):
        tape.gradient(None, x3)


def test_stop_and_reset():
    with tf.GradientTape() as tape:
        tape.watch(x3)
        with tape.stop_recording():
            y = x3 * x3
        z = y * x3
    assert tape.gradient(z, x3).numpy() == 9.0
    with tf.GradientTape() as tape:
        tape.watch(x3)
        y = x3 * x3
        tape.reset()
        tape.watch(x3)
        z = y * x3
    assert tape.gradient(z, x3).numpy() == 9.0


def test_second_order():
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = v * v * v
        d = inner.gradient(y, v)
    assert d.numpy() == 12.0 and outer.gradient(d, v).numpy() == 12.0


def test_watching_by_hand():
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = v * w
    assert [None if g is None else g.numpy() for g in tape.gradient(y, [v, w])] == [None, 2.0]
    n = tf.Variable(2.0, trainable=False)
    with tf.GradientTape() as tape:
        y = n * n
    assert tape.gradient(y, n) is None


def test_output_gradients():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.gradient(y, v, output_gradients=tf.constant([10.0, 100.0])).numpy().tolist() == [20.0, 400.0]


def test_jacobians():
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = w * w
    assert tape.jacobian(y, [w])[0].numpy().tolist() == [[2.0, 0.0], [0.0, 4.0]]
    m = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(m)
        y = m * m
    want = [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
    assert tape.batch_jacobian(y, m).numpy().tolist() == want
    assert tape.batch_jacobian(y, m, experimental_use_pfor=False).numpy().tolist() == want
    assert tape.jacobian(y, m, experimental_use_pfor=False).shape.as_list() == [2, 2, 2, 2]
    with pytest.raises(ValueError, match="Shape \\(2,\\) must have rank at least 2"):
        tape.batch_jacobian(tf.constant([1.0, 2.0]), m)
    with tf.GradientTape() as tape:
        y = w * w
    with pytest.raises(RuntimeError, match="GradientTape must be created with persistent=True to compute the jacobian"):
        tape.jacobian(y, w, experimental_use_pfor=False)


def test_matrix_jacobian_through_matmul():
    a, b = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[5.0, 6.0], [7.0, 8.0]])
    with tf.GradientTape() as tape:
        y = raw.MatMul(a=a, b=b)
    j = tape.jacobian(y, a).numpy()
    assert (
        j.shape == (2, 2, 2, 2)
        and j[0, 1].tolist() == [[6.0, 8.0], [0.0, 0.0]]
        and j[1, 0].tolist() == [[0.0, 0.0], [5.0, 7.0]]
    )


def test_a_function_that_was_first_traced_inside_another():
    v = tf.Variable(2.0)
    c = tf.constant([float(i) for i in range(100)])
    inner = tf.function(lambda x: v * x + c[3])
    outer = tf.function(lambda x: inner(x))
    assert outer(tf.constant(1.0)).numpy() == 5.0
    with tf.GradientTape() as tape:
        y = inner(tf.constant(4.0))
    assert y.numpy() == 11.0 and tape.gradient(y, v).numpy() == 4.0
    with tf.GradientTape() as tape:
        y = outer(tf.constant(4.0))
    assert tape.gradient(y, v).numpy() == 4.0


def test_an_op_without_a_gradient():
    x = tf.constant([[[[1.0, 2.0, 3.0]]]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = raw.AdjustContrastv2(images=x, contrast_factor=2.0)
    with pytest.raises(LookupError, match="gradient registry has no entry for: AdjustContrastv2$"):
        tape.gradient(y, x)


def test_classes_that_act_as_variables():
    class Wrapped(tf.__internal__.types.Tensor, tf.__internal__.tracking.Trackable):
        """As Keras does it."""

        def __init__(self, value):
            self.value = tf.Variable(value)

        _should_act_as_resource_variable = True
        dtype = property(lambda self: self.value.dtype)
        handle = property(lambda self: self.value.handle)

        def __tf_tensor__(self, dtype=None, name=None):
            return self.value.value()

    w = Wrapped([1.0, 2.0])

    def g():
        with tf.GradientTape() as tape:
            y = tf.square(w) * 3.0
        return tape.gradient(y, [w, x3])

    for f in (g, tf.function(g)):
        got = f()
        assert got[0].numpy().tolist() == [6.0, 12.0] and got[1] is None
    assert isinstance(x3, tf.__internal__.types.Tensor) and isinstance(tf.Variable(1), tf.__internal__.types.Tensor)


def test_jacobians_of_open_shapes():
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def whole(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.jacobian(y, x)

    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def by_row(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * tf.reduce_sum(x, 1, keepdims=True)
        return tape.batch_jacobian(y, x)

    assert whole(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    assert by_row(tf.constant([[1.0, 2.0], [3.0, 4.0]])).numpy().tolist() == [
        [[7.0, 1.0], [4.0, 16.0]],
        [[51.0, 9.0], [16.0, 72.0]],
    ]
