"""tf.Variable. What is expected was read off TensorFlow 2.21."""

import copy
import pickle

import numpy as np
import pytest

import weft as tf


def test_printing_and_names():
    assert repr(tf.Variable(1.0)) == "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=1.0>"
    v = tf.Variable([[1, 2], [3, 4]], name="m")
    assert (
        str(v) == "<tf.Variable 'm:0' shape=(2, 2) dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>"
    )
    with tf.name_scope("outer"):
        assert tf.Variable(0.0, name="x").name == "outer/x:0"
        assert tf.Variable(0.0).name == "outer/Variable:0"
    assert v.trainable and not tf.Variable(1, trainable=False).trainable
    assert type(v).__name__ == "ResourceVariable" and isinstance(v, tf.Variable)


def test_assignments():
    v = tf.Variable([2.0, 3.0])
    got = v.assign([1, 2])
    assert repr(got) == "<tf.Variable 'UnreadVariable' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    assert v.assign_add([2, 3]).numpy().tolist() == [3.0, 5.0]
    assert v.assign_sub([3, 5]).assign_add([1, 1]).numpy().tolist() == [1.0, 1.0]
    assert v.assign([5.0, 6.0], read_value=False) is None
    w = tf.Variable(v)
    v.assign([0.0, 0.0])
    assert w.numpy().tolist() == [5.0, 6.0]


def test_assignments_that_do_not_fit():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(
        ValueError,
        match="Cannot assign value to variable ' Variable:0': Shape mismatch.The variable "
        "shape \\(2,\\), and the assigned value shape "
        "\\(3,\\) are incompatible.",
    ):
        v.assign([1.0, 2.0, 3.0])
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="Cannot update variable with shape \\[2\\] using a Tensor with shape \\[1,1\\], shapes must be equal.",
    ):
        v.assign_sub([[1.0]])
    with pytest.raises(ValueError, match="Tensor conversion requested dtype float32 for Tensor with dtype int32"):
        v.assign(tf.constant([1, 2]))
    with pytest.raises(RuntimeError, match="`variable \\+= value` with `tf.Variable`s is not supported."):
        v += 1
    with pytest.raises(TypeError, match="Variable is unhashable. Instead, use variable.ref\\(\\) as the key."):
        hash(v)


def test_open_shapes():
    v = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))
    v.assign([[3.0, 4.0, 5.0]])
    assert v.shape.rank is None and v.numpy().shape == (1, 3)
    u = tf.Variable([[1, 2]], shape=[None, 2])
    u.assign([[1, 2], [3, 4]])
    assert str(u.shape) == "(None, 2)"
    with pytest.raises(
        ValueError, match="The variable shape \\(None, 2\\), and the assigned value shape \\(1, 3\\) are incompatible"
    ):
        u.assign([[1, 2, 3]])
    with pytest.raises(
        ValueError,
        match="the initial value's shape \\(\\(1,\\)\\) is not compatible with the "
        "explicitly supplied `shape` argument \\(\\[2\\]\\)",
    ):
        tf.Variable([1.0], shape=[2])


def test_creation():
    assert tf.Variable(lambda: tf.constant([1.0, 2.0])).numpy().tolist() == [1.0, 2.0]
    assert tf.Variable(np.arange(3)).dtype is tf.int64
    assert tf.Variable([1, 2], dtype=tf.float32).dtype is tf.float32
    with pytest.raises(ValueError, match="The `initial_value` arg to `tf.Variable` must be specified"):
        tf.Variable()
    with pytest.raises(ValueError, match="Invalid variable synchronization mode: 7 for variable: None"):
        tf.Variable(1.0, synchronization=7)
    assert tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM).aggregation == tf.VariableAggregation.SUM
    assert not tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ).trainable


def test_operators():
    v, c = tf.Variable([1.0, 2.0]), tf.constant([3.0, 5.0])
    assert (v + c).numpy().tolist() == (c + v).numpy().tolist() == [4.0, 7.0]
    assert (1 - v).numpy().tolist() == [0.0, -1.0] and (v - 1).numpy().tolist() == [0.0, 1.0]
    assert (v * v).numpy().tolist() == [1.0, 4.0] and (2 / v).numpy().tolist() == [2.0, 1.0]
    assert (v < c).numpy().tolist() == [True, True] and (v == v).numpy().tolist() == [True, True]
    assert (v != [1.0, 3.0]).numpy().tolist() == [False, True]
    assert (np.array([1.0, 1.0], np.float32) + v).numpy().tolist() == [2.0, 3.0]
    assert float(tf.Variable(2.5)) == 2.5 and int(tf.Variable(7)) == 7 and not bool(tf.Variable(0))
    assert np.asarray(v).tolist() == [1.0, 2.0]


def test_copies():
    v = tf.Variable([1.0, 2.0], name="v", trainable=False)
    w, p = copy.deepcopy(v), pickle.loads(pickle.dumps(v))
    v.assign([0.0, 0.0])
    assert w.numpy().tolist() == p.numpy().tolist() == [1.0, 2.0] and w.name == p.name == "v:0" and not w.trainable
    assert v.ref() == v.ref() and v.ref() != w.ref() and v.ref().deref() is v
    assert len({v.ref(), v.ref(), w.ref()}) == 2


def test_creator_scopes():
    seen = []

    def creator(next_creator, **kwargs):
        seen.append(kwargs["name"])
        kwargs["initial_value"] = 2 * kwargs["initial_value"]
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        a = tf.Variable(3.0, name="a")
        with tf.variable_creator_scope(creator):
            b = tf.Variable(3.0, name="b")
    c = tf.Variable(3.0, name="c")
    assert seen == ["a", "b", "b"] and [float(a), float(b), float(c)] == [6.0, 12.0, 3.0]


def test_nd_scatter():
    w = tf.Variable(np.zeros(6, np.int32))
    assert w.scatter_nd_update([[1], [4]], [10, 40]).numpy().tolist() == [0, 10, 0, 0, 40, 0]
    assert w.scatter_nd_add([[1], [4]], [1, 4]).numpy().tolist() == [0, 11, 0, 0, 44, 0]
    assert w.scatter_nd_sub([[1]], [5]).numpy().tolist() == [0, 6, 0, 0, 44, 0]
    assert w.sparse_read([1, 4]).numpy().tolist() == [6, 44] and w.gather_nd([[4], [0]]).numpy().tolist() == [44, 0]
    assert tf.Variable(1).count_up_to(3).numpy() == 1


def test_slices_can_be_assigned():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[0, 1].assign(9.0)
    v[1:, :1].assign([[7.0]])
    assert v.numpy().tolist() == [[1.0, 9.0], [7.0, 4.0]]

    @tf.function
    def f():
        v[..., 0].assign([0.0, 5.0])
        return v.read_value()

    assert f().numpy().tolist() == [[0.0, 9.0], [5.0, 4.0]]


def test_scatter_of_slices():
    v = tf.Variable([1.0, 2.0, 3.0])
    d = tf.IndexedSlices(tf.constant([10.0, 20.0]), tf.constant([0, 2]))
    assert v.scatter_add(d).numpy().tolist() == [11.0, 2.0, 23.0]
    assert v.scatter_sub(d).numpy().tolist() == [1.0, 2.0, 3.0]
    assert v.scatter_mul(d).numpy().tolist() == [10.0, 2.0, 60.0] and v.scatter_div(d).numpy().tolist() == [
        1.0,
        2.0,
        3.0,
    ]
    assert v.scatter_max(d).numpy().tolist() == [10.0, 2.0, 20.0] and v.scatter_update(d).numpy().tolist() == [
        10.0,
        2.0,
        20.0,
    ]
    m = tf.Variable([[1, 2, 3], [4, 5, 6]])
    got = m.batch_scatter_update(tf.IndexedSlices(tf.constant([[7], [8]]), tf.constant([[2], [0]])))
    assert got.numpy().tolist() == [[1, 2, 7], [8, 5, 6]]
    with pytest.raises(TypeError, match="Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: 1"):
        v.scatter_add(1)


def test_variables_of_functions():
    class Lazy(tf.Module):
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(tf.zeros_like(x) + x * 2.0, name="late")
            self.v.assign_add(x)
            return self.v * 1.0

    m = Lazy()
    assert m(tf.constant([1.0, 2.0])).numpy().tolist() == [3.0, 6.0] and m(
        tf.constant([1.0, 2.0])
    ).numpy().tolist() == [4.0, 8.0]
    assert [v.name for v in m.variables] == ["late:0"]

    @tf.function
    def each_time(x):
        return tf.Variable(x) + 1.0

    with pytest.raises(ValueError, match="tf.function only supports singleton tf.Variables created on the first call."):
        each_time(tf.constant(1.0))


def test_variables_made_in_branches_and_loops():
    """On the first call, as everywhere in a function."""
    made = {}

    def variable(name):
        if name not in made:
            made[name] = tf.Variable(lambda: 3.0)
        return made[name]

    @tf.function
    def branch(x):
        return tf.cond(x > 0, lambda: variable("cond") * x, lambda: x)

    @tf.function
    def inner(x):
        return variable("inner") * x

    @tf.function
    def loop(x):
        return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, inner(x) * variable("loop")), [0, x])[1]

    assert branch(tf.constant(2.0)).numpy() == 6.0 and loop(tf.constant(2.0)).numpy() == 162.0
    assert [float(x) for x in tf.data.Dataset.from_tensors(2.0).map(lambda x: variable("map") * x)] == [6.0]
    assert sorted(made) == ["cond", "inner", "loop", "map"]
