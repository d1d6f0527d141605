"""tf.SparseTensor and tf.sparse; expected values and texts are TensorFlow's."""

import pytest
import weft as tf


def parts(s):
    return s.indices.numpy().tolist(), s.values.numpy().tolist(), s.dense_shape.numpy().tolist()


@pytest.fixture
def s():
    return tf.SparseTensor([[0, 1], [2, 3]], [1.0, 2.0], [3, 4])


def test_basics(s):
    assert str(s) == (
        "SparseTensor(indices=tf.Tensor(\n[[0 1]\n [2 3]], shape=(2, 2), dtype=int64), "
        "values=tf.Tensor([1. 2.], shape=(2,), dtype=float32), "
        "dense_shape=tf.Tensor([3 4], shape=(2,), dtype=int64))"
    )
    assert s.shape == [3, 4] and s.dtype == tf.float32
    assert repr(tf.type_spec_from_value(s)) == "SparseTensorSpec(TensorShape([3, 4]), tf.float32)"
    for args, text in [
        (([[0, 1], [2, 3]], [1.0], [3, 4]), "Dimensions 2 and 1 are not compatible"),
        (([[0, 1, 1]], [1.0], [3, 4]), "Dimensions 3 and 2 are not compatible"),
        (([0, 1], [1.0, 2.0], [3, 4]), r"Shape \(2,\) must have rank 2"),
    ]:
        with pytest.raises(ValueError, match=text):
            tf.SparseTensor(*args)


def test_operators(s):
    assert (
        parts(s * 2.0)[1] == [2, 4] and parts(s / 2.0)[1] == [0.5, 1] and parts(s * [[1.0], [2.0], [3.0]])[1] == [1, 6]
    )
    with pytest.raises(TypeError, match="unsupported operand type"):
        s + s
    with pytest.raises(TypeError, match="not subscriptable"):
        s[0]
    assert parts(tf.square(s))[1] == [1, 4] and parts(tf.negative(s))[1] == [-1, -2] and parts(tf.abs(s))[1] == [1, 2]
    assert tf.cast(s, tf.int32).values.dtype == tf.int32
    assert tf.shape(s).numpy().tolist() == [3, 4] and tf.size(s).numpy() == 12 and tf.rank(s).numpy() == 2
    with pytest.raises(ValueError, match="with an unsupported type .*SparseTensor'>. to a Tensor."):
        tf.exp(s)


def test_values_alone(s):
    """Which ops take a sparse tensor is TensorFlow's choice: not all that leave zeros zeros."""
    s = s.with_values([1.0, 0.5])
    expected = {
        "asin": [1.5707963705062866, 0.5235987901687622],
        "asinh": [0.8813735842704773, 0.4812118411064148],
        "atan": [0.7853981852531433, 0.46364760398864746],
        "atanh": [float("inf"), 0.5493061542510986],
        "bessel_i0e": [0.46575963497161865, 0.6450353860855103],
        "bessel_i1e": [0.207910418510437, 0.15642082691192627],
        "erf": [0.8427008390426636, 0.5204998850822449],
        "sign": [1.0, 1.0],
        "sin": [0.8414709568023682, 0.4794255495071411],
        "sqrt": [1.0, 0.7071067690849304],
        "tan": [1.5574077367782593, 0.5463024973869324],
        "tanh": [0.7615941762924194, 0.46211713552474976],
    }
    for name, values in expected.items():
        assert parts(getattr(tf.math, name)(s))[1] == pytest.approx(values, rel=1e-6), name
    for name in ("ceil", "floor", "round", "rint", "sinh", "expm1", "conj"):
        with pytest.raises(ValueError, match="SparseTensor"):
            getattr(tf.math, name)(s)


def test_dense(s):
    assert tf.sparse.to_dense(s, 9.0).numpy().tolist() == [[9, 1, 9, 9], [9, 9, 9, 9], [9, 9, 9, 2]]
    assert parts(tf.sparse.from_dense([[1, 0], [0, 2]])) == ([[0, 0], [1, 1]], [1, 2], [2, 2])
    assert parts(tf.sparse.from_dense([["a", ""], ["", "b"]]))[1] == [b"a", b"b"]
    unordered = tf.SparseTensor([[2, 3], [0, 1]], [1.0, 2.0], [3, 4])
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"indices\[1\] = \[0,1\] is out of order. Many sparse ops require sorted indices.",
    ):
        tf.sparse.to_dense(unordered)
    assert parts(tf.sparse.reorder(unordered)) == ([[0, 1], [2, 3]], [2, 1], [3, 4])
    with pytest.raises(TypeError, match="Input must be a SparseTensor."):
        tf.sparse.to_dense(tf.ones(3))


def test_shapes(s):
    assert parts(tf.sparse.reshape(s, [4, 3])) == ([[0, 1], [3, 2]], [1, 2], [4, 3])
    assert parts(tf.sparse.slice(s, [0, 1], [2, 2])) == ([[0, 0]], [1], [2, 2])
    assert [parts(p) for p in tf.sparse.split(s, 2, 1)] == [([[0, 1]], [1], [3, 2]), ([[2, 1]], [2], [3, 2])]
    assert parts(tf.sparse.concat(0, [s, s])) == ([[0, 1], [2, 3], [3, 1], [5, 3]], [1, 2, 1, 2], [6, 4])
    other = tf.SparseTensor([[0, 0]], [1.0], [2, 1])
    assert parts(tf.sparse.concat(1, [s, other], expand_nonconcat_dims=True)) == (
        [[0, 1], [0, 4], [2, 3]],
        [1, 1, 2],
        [3, 5],
    )
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="Input shapes must match: expected 3 for dimension 0 but got 2 at position 1",
    ):
        tf.sparse.concat(1, [s, other])
    assert parts(tf.sparse.transpose(s)) == ([[1, 0], [3, 2]], [1, 2], [4, 3])
    assert parts(tf.sparse.expand_dims(s, 0)) == ([[0, 0, 1], [0, 2, 3]], [1, 2], [1, 3, 4])
    assert parts(tf.sparse.reset_shape(s, [5, 5]))[2] == [5, 5] and parts(
        tf.sparse.reset_shape(tf.SparseTensor([[0, 1]], [1.0], [3, 4]))
    )[2] == [1, 2]
    assert parts(tf.sparse.retain(s, [True, False])) == ([[0, 1]], [1], [3, 4])
    filled, empty = tf.sparse.fill_empty_rows(s, 7.0)
    assert parts(filled) == ([[0, 1], [1, 0], [2, 3]], [1, 7, 2], [3, 4]) and empty.numpy().tolist() == [
        False,
        True,
        False,
    ]


def test_arithmetic(s):
    other = tf.SparseTensor([[0, 1], [1, 1]], [5.0, -6.0], [3, 4])
    assert parts(tf.sparse.add(s, s))[1] == [2, 4] and tf.sparse.add(s, tf.ones([3, 4])).numpy()[2].tolist() == [
        1,
        1,
        1,
        3,
    ]
    assert parts(tf.sparse.add(s, tf.SparseTensor([[0, 1]], [-1.0], [3, 4]), threshold=0.1)) == ([[2, 3]], [2], [3, 4])
    with pytest.raises(TypeError, match=r"At least one input should be SparseTensor; do you mean to use tf.add\(\)?"):
        tf.sparse.add(tf.ones([3, 4]), tf.ones([3, 4]))
    assert parts(tf.sparse.maximum(s, other)) == ([[0, 1], [1, 1], [2, 3]], [5, 0, 2], [3, 4])
    assert parts(tf.sparse.minimum(s, other))[1] == [1, -6, 0]
    assert tf.sparse.reduce_sum(s).numpy() == 3 and tf.sparse.reduce_sum(s, 0).numpy().tolist() == [0, 1, 0, 2]
    assert tf.sparse.reduce_max(s, 1).numpy().tolist() == [1, 0, 2] and parts(
        tf.sparse.reduce_sum(s, -1, output_is_sparse=True)
    ) == ([[0], [2]], [1, 2], [3])
    assert tf.sparse.sparse_dense_matmul(s, tf.ones([4, 2])).numpy().tolist() == [[1, 1], [0, 0], [2, 2]]
    assert tf.sparse.sparse_dense_matmul(tf.ones([2, 3]), s).numpy().tolist() == [[0, 1, 0, 2], [0, 1, 0, 2]]
    assert parts(tf.sparse.softmax(s))[1] == [1, 1]
    assert parts(tf.sparse.map_values(tf.multiply, s, [5.0, 6.0]))[1] == [5, 12]
    with pytest.raises(ValueError, match="No SparseTensor in argument list of map_values"):
        tf.sparse.map_values(tf.add, 1, 2)


def test_others():
    assert parts(tf.sparse.eye(2, 3)) == ([[0, 0], [1, 1]], [1, 1], [2, 3])
    words = [tf.sparse.from_dense([["a", "b"], ["c", ""]]), tf.sparse.from_dense([["x"], ["y"]])]
    assert parts(tf.sparse.cross(words))[1] == [b"a_X_x", b"b_X_x", b"c_X_y"] and parts(
        tf.sparse.cross(words, separator="-")
    )[1] == [b"a-x", b"b-x", b"c-y"]
    assert parts(tf.sparse.cross_hashed(words, num_buckets=100))[1] == [92, 4, 60]
    assert parts(tf.sparse.cross_hashed([tf.constant([[1], [2]]), tf.constant([[3], [4]])]))[1] == [
        4809349409533727844,
        6432873524654521740,
    ]
    assert parts(tf.sparse.bincount([1, 1, 3])) == ([[1], [3]], [2, 1], [4])
    assert parts(tf.sparse.bincount([[1, 1, 3], [0, 2, 2]], axis=-1)) == (
        [[0, 1], [0, 3], [1, 0], [1, 2]],
        [2, 1, 1, 2],
        [2, 4],
    )
    assert parts(tf.sparse.bincount(tf.ragged.constant([[1, 1], [2]]), axis=-1)) == ([[0, 1], [1, 2]], [2, 1], [2, 3])
    rows = tf.constant([[1.0], [2.0], [3.0]])
    assert tf.sparse.segment_sum(rows, [0, 2], [0, 1], num_segments=4).numpy().tolist() == [[1], [3], [0], [0]]
    assert tf.sparse.segment_mean(rows, [0, 2], [0, 0]).numpy().tolist() == [[2]]
    assert tf.sparse.to_indicator(tf.sparse.from_dense([[1, 3], [2, 0]]), 5).numpy().tolist() == [
        [False, True, False, True, False],
        [False, False, True, False, False],
    ]
    slices = tf.IndexedSlices(tf.ones([3, 2]), tf.constant([1, 4, 5]), tf.constant([6, 2]))
    assert tf.sparse.mask(slices, [4]).indices.numpy().tolist() == [1, 5]


def test_spec_and_functions(s):
    spec = tf.SparseTensorSpec([2, 3])
    assert repr(tf.SparseTensorSpec()) == "SparseTensorSpec(TensorShape(None), tf.float32)"
    assert spec._component_specs == [
        tf.TensorSpec([None, 2], tf.int64),
        tf.TensorSpec([None]),
        tf.TensorSpec([2], tf.int64),
    ]
    assert spec._batch(4) == tf.SparseTensorSpec([4, 2, 3]) and spec._unbatch() == tf.SparseTensorSpec([3])
    shapes = []

    @tf.function
    def f(x):
        shapes.append(x.shape)
        return x * 2.0, tf.sparse.to_dense(x)

    twice, dense = f(s)
    assert shapes[0] == [3, 4] and parts(twice)[1] == [2, 4] and dense.numpy()[2].tolist() == [0, 0, 0, 2]
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sparse.to_dense(tf.SparseTensor([[0, 1], [2, 3]], v, [3, 4])) * 2.0)
    assert tape.gradient(y, v).numpy().tolist() == [2, 2]
