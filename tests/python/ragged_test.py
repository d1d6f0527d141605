"""Ragged tensors; expected values and texts are TensorFlow's."""

import numpy as np
import pytest
import weft as tf

R, C = tf.RaggedTensor, tf.ragged.constant


@pytest.fixture
def r():
    return C([[1, 2], [], [3]])


def test_constant():
    assert repr(C([[1, 2], [], [3]])) == "<tf.RaggedTensor [[1, 2], [], [3]]>"
    assert (
        repr(C([[1.5, 2.25], [3.0]])) == "<tf.RaggedTensor [[1.5, 2.25], [3.0]]>"
        and repr(C([["a"], ["b", "c"]])) == "<tf.RaggedTensor [[b'a'], [b'b', b'c']]>"
    )
    assert repr(C([[]])) == "<tf.RaggedTensor [[]]>" and repr(C([[[]]])) == "<tf.RaggedTensor [[[]]]>"
    assert (
        repr(C([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)) == "<tf.RaggedTensor [[[1, 2]], [[3, 4],\n            "
        "[5, 6]]]>"
    )
    assert isinstance(C(3), tf.Tensor) and C([[1, 2], [3, 4]], ragged_rank=0).shape == [2, 2]
    assert C([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1).shape.as_list() == [2, None, 2]
    for args, text in [
        (([[1], 2],), "all scalar values must have the same nesting depth"),
        (([[1], ["a"]],), "Can't convert Python sequence with mixed types to Tensor."),
        (([[1, 2], [3, 4]], None, 5), r"Invalid pylist=\[\[1, 2\], \[3, 4\]\], max depth smaller than ragged_rank=5"),
        (([[[1, 2], [3]], [[5, 6]]], None, 1), "inner values have inconsistent shape"),
    ]:
        with pytest.raises(ValueError, match=text):
            C(*args)


def test_factories():
    v = tf.constant([3, 1, 4, 1, 5, 9, 2])
    want = [[3, 1, 4, 1], [], [5, 9], [2]]
    made = [
        R.from_value_rowids(v, [0, 0, 0, 0, 2, 2, 3]),
        R.from_row_lengths(v, [4, 0, 2, 1]),
        R.from_row_splits(v, [0, 4, 4, 6, 7]),
        R.from_row_starts(v, [0, 4, 4, 6]),
        R.from_row_limits(v, [4, 4, 6, 7]),
    ]
    assert all(m.to_list() == want for m in made)
    assert R.from_value_rowids(v, [0, 0, 0, 0, 2, 2, 3], nrows=6).to_list() == want + [[], []]
    uniform = R.from_uniform_row_length(tf.range(6), 2)
    assert uniform.shape == [3, 2] and uniform.to_list() == [[0, 1], [2, 3], [4, 5]]
    assert R.from_nested_row_splits(tf.range(5), [[0, 2, 3], [0, 1, 4, 5]]).to_list() == [[[0], [1, 2, 3]], [[4]]]
    assert R.from_nested_value_rowids(v, [[0, 0, 1], [0, 0, 0, 1, 1, 2, 2]]).to_list() == [
        [[3, 1, 4], [1, 5]],
        [[9, 2]],
    ]
    with pytest.raises(ValueError, match="RaggedTensor constructor is private"):
        R(v, [0, 7])


@pytest.mark.parametrize(
    "code, kind, text",
    [
        (
            lambda v: R.from_row_splits(v, [0, 4, 3, 7]),
            tf.errors.InvalidArgumentError,
            "Arguments to from_row_splits do not form a valid RaggedTensor:monotonic.  \nCondition x >= 0 did not hold "
            "element-wise:\nx (shape=(3,) dtype=int64) = \n['4', '-1', '4']",
        ),
        (
            lambda v: R.from_row_splits(v, [0, 4, 6]),
            tf.errors.InvalidArgumentError,
            "Arguments to _from_row_partition do not form a valid RaggedTensor\nCondition x == y did not hold.\nFirst 1 "
            "elements of x:\n[6]\nFirst 1 elements of y:\n[7]",
        ),
        (lambda v: R.from_row_splits(v, []), ValueError, "row_splits tensor may not be empty."),
        (lambda v: R.from_row_splits(v, [0.0, 7.0]), ValueError, "row_splits must have dtype int32 or int64"),
        (lambda v: R.from_value_rowids(v, [0, 1]), ValueError, "Shapes (7,) and (2,) are incompatible"),
        (
            lambda v: R.from_value_rowids(v, [0, 0, 0, 0, 2, 2, 3], nrows=3),
            ValueError,
            "Expected nrows >= value_rowids[-1] + 1; got nrows=3, value_rowids[-1]=3",
        ),
        (
            lambda v: R.from_uniform_row_length(v, 2),
            ValueError,
            "uniform_row_length=2 times nrows=3 must equal nvals=7",
        ),
        (
            lambda v: R.from_tensor([1, 2]),
            ValueError,
            "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged dimensions. "
            "Received argument "
            "`tensor` with rank 1.",
        ),
    ],
)
def test_factory_errors(code, kind, text):
    with pytest.raises(kind) as e:
        code(tf.constant([3, 1, 4, 1, 5, 9, 2]))
    assert str(e.value) == text


def test_from_tensor():
    x = [[[1, 0], [2, 3]], [[0, 0], [4, 0]]]
    assert R.from_tensor(x, padding=0, ragged_rank=2).to_list() == [[[1], [2, 3]], [[], [4]]]
    assert R.from_tensor(x, lengths=([2, 1], [1, 2, 1]), ragged_rank=2).to_list() == [[[1], [2, 3]], [[0]]]
    assert R.from_tensor([[1, 2], [3, 4]], lengths=[1, 5]).to_list() == [[1], [3, 4]]
    assert R.from_tensor([[1, 2], [3, 4]]).shape == [2, 2]


def test_conversions(r):
    assert r.to_tensor().numpy().tolist() == [[1, 2], [0, 0], [3, 0]] and r.to_tensor(
        9, shape=[4, 1]
    ).numpy().tolist() == [[1], [9], [3], [9]]
    assert C([[[1, 2], [3, 4]], []], ragged_rank=1).to_tensor(default_value=[7, 8]).numpy().tolist() == [
        [[1, 2], [3, 4]],
        [[7, 8], [7, 8]],
    ]
    sparse = r.to_sparse()
    assert sparse.indices.numpy().tolist() == [[0, 0], [0, 1], [2, 0]] and R.from_sparse(sparse).to_list() == [
        [1, 2],
        [],
        [3],
    ]
    deep = C([[[1], [2, 3]], []]).numpy()
    assert (
        deep.dtype == object
        and deep[0][1].tolist() == [2, 3]
        and C([[1, 2], [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]
    )


def test_properties(r):
    assert (
        r.shape.as_list() == [3, None]
        and r.ragged_rank == 1
        and r.dtype == tf.int32
        and r.row_splits.numpy().tolist() == [0, 2, 2, 3]
    )
    deep = C([[[1, 2], [3]], []])
    assert (
        deep.row_lengths().numpy().tolist() == [2, 0]
        and deep.row_lengths(axis=2).to_list() == [[2, 1], []]
        and deep.bounding_shape().numpy().tolist() == [2, 2, 2]
    )
    assert deep.merge_dims(0, 2).numpy().tolist() == [1, 2, 3] and deep.merge_dims(1, 2).to_list() == [[1, 2, 3], []]
    assert r.with_values(C([[1], [2, 3], []])).to_list() == [[[1], [2, 3]], [], [[]]]
    with pytest.raises(ValueError, match=r"Shapes \(3,\) and \(2,\) are incompatible"):
        r.with_values([1, 2])
    with pytest.raises(TypeError, match="RaggedTensor may not be used as a boolean."):
        bool(r)
    with pytest.raises(TypeError, match="RaggedTensor is unhashable."):
        hash(r)
    assert [row.numpy().tolist() for row in r] == [[1, 2], [], [3]]


def test_getitem():
    q = C([[[1, 2, 3], [4]], [[5], [], [6]], [[7]], [[8, 9], [10]]])
    assert q[1].to_list() == [[5], [], [6]] and q[3, 0].numpy().tolist() == [8, 9] and q[1, 2, 0].numpy() == 6
    assert q[:, 1:3].to_list() == [[[4]], [[], [6]], [], [[10]]] and q[..., :1].to_list() == [
        [[1], [4]],
        [[5], [], [6]],
        [[7]],
        [[8], [10]],
    ]
    assert (
        q[::2].to_list() == [[[1, 2, 3], [4]], [[7]]]
        and q[::-1][0].to_list() == [[8, 9], [10]]
        and q[:, ::-1][0].to_list() == [[4], [1, 2, 3]]
    )
    assert q[tf.newaxis].shape.as_list() == [1, 4, None, None] and q[:, tf.newaxis].shape.as_list() == [
        4,
        1,
        None,
        None,
    ]
    assert q[tf.constant(2)].to_list() == [[7]] and q[-1].to_list() == [[8, 9], [10]]
    with pytest.raises(IndexError, match="Row key 5 out of bounds"):
        q[5]
    with pytest.raises(ValueError, match="Cannot index into an inner ragged dimension."):
        q[:, 0]
    with pytest.raises(TypeError, match="Only integers, slices"):
        q["a"]


def test_operators(r):
    assert (
        (r + [5]).to_list() == [[6, 7], [], [8]]
        and (1 - r).to_list() == [[0, -1], [], [-2]]
        and (r / 2).to_list() == [[0.5, 1.0], [], [1.5]]
    )
    assert (tf.constant([[1], [2], [3]]) * r).to_list() == [[1, 2], [], [9]] and (2 < r).to_list() == [
        [False, False],
        [],
        [True],
    ]
    assert (r + R.from_uniform_row_length([1, 2, 3], 1)).to_list() == [[2, 3], [], [6]] and (
        ~C([[True]])
    ).to_list() == [[False]]
    wide = r + tf.ones([2, 1, 1], tf.int32)
    assert wide.to_list() == [[[2, 3], [], [4]], [[2, 3], [], [4]]] and wide.shape.as_list() == [2, 3, None]
    assert (r == r).to_list() == [[True, True], [], [True]] and (r == None) is False  # noqa: E711
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        r + C([[1], [2], [4]])
    assert str(e.value).startswith(
        "Condition x == y did not hold.\nIndices of first 1 different "
        "values:\n[[1]]\nCorresponding x values:\n[2]\nCorresponding y values:\n[1]"
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot compute AddV2 as input #1"):
        r + 1.5


def test_reductions():
    d = C([[3, 1, 4], [], [5, 9]])
    assert (
        tf.reduce_sum(d, axis=0).numpy().tolist() == [8, 10, 4]
        and tf.reduce_sum(d, axis=1).numpy().tolist() == [8, 0, 14]
        and tf.reduce_sum(d).numpy() == 22
    )
    assert (
        tf.reduce_sum(d, axis=1, keepdims=True).numpy().tolist() == [[8], [0], [14]]
        and tf.reduce_max(d, axis=[0, 1]).numpy() == 9
    )
    np.testing.assert_allclose(tf.reduce_mean(d, axis=1).numpy(), [8 / 3, np.nan, 7])
    deep = C([[[1, 2], [3]], [[4, 5, 6]]])
    assert tf.reduce_sum(deep, axis=1).to_list() == [[4, 2], [4, 5, 6]] and tf.reduce_sum(deep, axis=2).to_list() == [
        [3, 3],
        [15],
    ]
    assert tf.reduce_sum(deep, axis=0).to_list() == [[5, 7, 6], [3]] and tf.reduce_any(
        d > 4, axis=1
    ).numpy().tolist() == [False, False, True]


def test_concat_and_others(r):
    assert tf.concat([C([[[1], [2, 3]], []]), C([[[4]], [[5, 6]]])], axis=1).to_list() == [[[1], [2, 3], [4]], [[5, 6]]]
    assert tf.concat([C([[[1], [2, 3]], []]), C([[[4], [9]], []])], axis=-1).to_list() == [[[1, 4], [2, 3, 9]], []]
    assert tf.stack([r, r], axis=1).to_list() == [[[1, 2], [1, 2]], [[], []], [[3], [3]]] and tf.stack(
        [r, r], axis=2
    ).to_list() == [[[1, 1], [2, 2]], [], [[3, 3]]]
    assert (
        tf.ragged.stack([[1], [2, 3]]).to_list() == [[1], [2, 3]]
        and tf.tile(r, [2, 2]).to_list() == [[1, 2, 1, 2], [], [3, 3]] * 2
    )
    assert (
        tf.reverse(r, [1]).to_list() == [[2, 1], [], [3]]
        and tf.expand_dims(r, 1).shape.as_list() == [3, 1, None]
        and tf.squeeze(tf.expand_dims(r, 0), 0).to_list() == r.to_list()
    )
    assert tf.gather(r, [2, 0]).to_list() == [[3], [1, 2]] and tf.gather(
        tf.constant([10, 20, 30, 40]), r
    ).to_list() == [[20, 30], [], [40]]
    assert tf.gather(C([[1, 2], [3, 4]]), C([[1], [0, 0]]), batch_dims=1).to_list() == [[2], [3, 3]] and tf.gather_nd(
        r, [[0, 1], [2, 0]]
    ).numpy().tolist() == [2, 3]
    assert tf.where(r > 1, r, -r).to_list() == [[-1, 2], [], [3]] and tf.where(r > 1).numpy().tolist() == [
        [0, 1],
        [2, 0],
    ]
    assert (
        tf.cast(r, tf.float32).dtype == tf.float32
        and tf.size(r).numpy() == 3
        and tf.rank(r).numpy() == 2
        and tf.cumsum(r, axis=1).to_list() == [[1, 3], [], [3]]
    )
    assert tf.one_hot(r, 2).to_list() == [[[0, 1], [0, 0]], [], [[0, 0]]] and tf.add_n([r, r]).to_list() == [
        [2, 4],
        [],
        [6],
    ]
    with pytest.raises(ValueError, match="axis=5 out of bounds: expected -2<=axis<2"):
        tf.concat([r, r], axis=5)


def test_tf_ragged():
    assert tf.ragged.range([3, 0, 2]).to_list() == [[0, 1, 2], [], [0, 1]] and tf.ragged.range(
        [0, 5], [3, 8], 2
    ).to_list() == [[0, 2], [5, 7]]
    assert tf.ragged.map_flat_values(lambda x: x * 2 + 1, C([[1, 2], [3]])).to_list() == [[3, 5], [7]]
    assert tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 3).to_list() == [[b"b"], [b"a", b"c"], []]
    assert tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]).to_list() == [[1], [3, 4]]
    assert tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]).numpy().tolist() == [
        0,
        0,
        0,
        2,
        2,
    ] and tf.ragged.segment_ids_to_row_splits([0, 0, 2]).numpy().tolist() == [0, 2, 2, 3]
    assert tf.ragged.cross([C([["a"], ["b", "c"]]), C([["d"], ["e"]])]).to_list() == [[b"a_X_d"], [b"b_X_e", b"c_X_e"]]


def test_functions_and_gradients(r):
    traced = []

    @tf.function
    def f(x):
        traced.append(x.shape.as_list())
        return (
            x + 1,
            tf.reduce_sum(x, axis=1),
            x[:, :1],
            tf.concat([x, x], axis=1),
            x * [[10], [20], [30]],
            x.to_tensor(),
            x[1:],
            tf.tile(x, [1, 2]),
        )

    got = f(r)
    assert [g.to_list() if isinstance(g, R) else g.numpy().tolist() for g in got] == [
        [[2, 3], [], [4]],
        [3, 0, 3],
        [[1], [], [3]],
        [[1, 2, 1, 2], [], [3, 3]],
        [[10, 20], [], [90]],
        [[1, 2], [0, 0], [3, 0]],
        [[], [3]],
        [[1, 2, 1, 2], [], [3, 3]],
    ]
    assert traced == [[3, None]]
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        x = R.from_row_splits(v, [0, 1, 1, 4])
        loss = tf.reduce_sum(tf.reduce_sum(x * x, axis=1) * [1.0, 2.0, 3.0])
    assert tape.gradient(loss, v).numpy().tolist() == [2, 12, 18, 24]


@pytest.mark.parametrize("shape", [[None, None], [None, None, None]])
def test_unknown_shapes(shape):
    @tf.function(input_signature=[tf.RaggedTensorSpec(shape, tf.int32)])
    def f(x):
        return x + x, x * 2, x[::-1], x[:, 1:], x[0], tf.reduce_max(x, axis=-1), tf.concat([x, x], 0)

    x = C([[1, 2], [3]]) if len(shape) == 2 else C([[[1, 2], [3]], [[4]]])
    got = f(x)
    eager = [x + x, x * 2, x[::-1], x[:, 1:], x[0], tf.reduce_max(x, axis=-1), tf.concat([x, x], 0)]
    assert [g.to_list() if isinstance(g, R) else g.numpy().tolist() for g in got] == [
        g.to_list() if isinstance(g, R) else g.numpy().tolist() for g in eager
    ]


def test_spec(r):
    spec = tf.RaggedTensorSpec([2, None], tf.int32, ragged_rank=1)
    assert (
        repr(spec) == "RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)"
        and not spec.is_compatible_with(r)
        and tf.type_spec_from_value(r).is_compatible_with(r)
    )
    assert tf.nest.flatten(tf.type_spec_from_value(r), expand_composites=True) == [
        tf.TensorSpec([None], tf.int32),
        tf.TensorSpec([4], tf.int64),
    ]
    with pytest.raises(
        ValueError, match="Incompatible CompositeTensor TypeSpecs: type=RaggedTensorSpec str=RaggedTensorSpec"
    ):
        tf.nest.assert_same_structure([r], [r.with_values([1.0, 2.0, 3.0])], expand_composites=True)
    back = spec._from_compatible_tensor_list(spec._to_tensor_list(C([[1], [2, 3]])))
    assert back.to_list() == [[1], [2, 3]]


def test_row_partition_and_shape():
    p = tf.experimental.RowPartition.from_row_lengths([2, 0, 1])
    assert (
        p.row_splits().numpy().tolist() == [0, 2, 2, 3]
        and p.nrows().numpy() == 3
        and p.offsets_in_rows().numpy().tolist() == [0, 1, 0]
    )
    shape = tf.experimental.DynamicRaggedShape.from_lengths([2, (3, 1), 2])
    assert (
        repr(shape) == "<DynamicRaggedShape lengths=[2, (3, 1), 2] num_row_partitions=1>"
        and shape.rank == 3
        and shape[0].numpy() == 2
    )
    assert tf.ones(shape).to_list() == [[[1, 1]] * 3, [[1, 1]]] and tf.broadcast_to([[[7, 8]]], shape).to_list() == [
        [[7, 8]] * 3,
        [[7, 8]],
    ]
    assert tf.shape(C([[1], [2, 3]])).static_lengths() == [2, (1, 2)]


def test_gradient_of_ragged():
    x = C([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).to_list() == [[2, 4], [6]]


def test_counts_and_sums(r):
    a = C([[3, 1, 4], [], [5, 9]])
    assert tf.cumsum(a).to_list() == [[3, 1, 4], [], [8, 10]] and tf.cumsum(a, axis=1, reverse=True).to_list() == [
        [8, 5, 4],
        [],
        [14, 9],
    ]
    assert tf.math.bincount(a).numpy().tolist() == [0, 1, 0, 1, 1, 1, 0, 0, 0, 1] and tf.math.bincount(
        r, axis=-1
    ).numpy().tolist() == [[0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    tf.debugging.assert_equal(a, a)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x == y did not hold."):
        tf.debugging.assert_equal(a, a + 1)
    with pytest.raises(ValueError, match="mismatched row_splits dtypes"):
        C([[1]], row_splits_dtype=tf.int32) + C([[2]])
    with pytest.raises(ValueError, match="Ragged.squeeze must have an axis argument."):
        tf.squeeze(a)
    assert tf.strings.format("{}", C([[1, 2], [3]])).numpy() == b"[[1, 2], [3]]"


def test_strings():
    s = C([["a", "Bc"], [], ["def"]])
    assert tf.strings.length(s).to_list() == [[1, 2], [], [3]] and tf.strings.join(["x", s], "-").to_list() == [
        [b"x-a", b"x-Bc"],
        [],
        [b"x-def"],
    ]
    assert tf.strings.substr(s, 0, 1).to_list() == [[b"a", b"B"], [], [b"d"]] and tf.strings.reduce_join(
        s, axis=1
    ).numpy().tolist() == [b"aBc", b"", b"def"]
    assert (
        tf.strings.split(s).to_list() == [[[b"a"], [b"Bc"]], [], [[b"def"]]]
        and tf.strings.reduce_join(s).numpy() == b"aBcdef"
    )


def test_loops_and_branches():
    a = C([[3, 1, 4], [], [5, 9]])

    @tf.function
    def rows(x):
        total = tf.constant(0)
        for row in x:
            total += tf.reduce_sum(row) * 2
        return total

    @tf.function
    def branches(x, p):
        if p:
            x = x + 1
        else:
            x = x * 2
        return x

    @tf.function
    def grows(x):
        for _ in tf.range(3):
            x = x + 1
        return x

    assert rows(a).numpy() == 44 and grows(a).to_list() == [[6, 4, 7], [], [8, 12]]
    assert branches(a, tf.constant(True)).to_list() == [[4, 2, 5], [], [6, 10]] and branches(
        a, tf.constant(False)
    ).to_list() == [[6, 2, 8], [], [10, 18]]


def test_datasets():
    d = C([[[1, 2], [3]], [], [[4, 5, 6], []]])
    assert [e.to_list() for e in tf.data.Dataset.from_tensor_slices(d)] == [[[1, 2], [3]], [], [[4, 5, 6], []]]
    batches = list(tf.data.Dataset.from_tensor_slices({"a": C([[3, 1, 4], [], [5, 9]]), "b": [1, 2, 3]}).batch(2))
    assert batches[0]["a"].to_list() == [[3, 1, 4], []] and batches[1]["b"].numpy().tolist() == [3]
    sparse = tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2]])).batch(2)
    assert tf.sparse.to_dense(next(iter(sparse))).numpy().tolist() == [[1, 0], [0, 2]]


def test_sessions():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        r = v1.ragged.placeholder(tf.int32, 1, value_shape=[], name="r")
        doubled, sums = r * 2, tf.reduce_sum(r, axis=1)
        with v1.Session() as session:
            got = session.run([doubled, sums], {r: v1.ragged.constant_value([[1, 2], [3]], dtype=np.int32)})
    assert repr(
        got[0]
    ) == "tf.RaggedTensorValue(values=array([2, 4, 6], dtype=int32), row_splits=array([0, 2, 3]))" and got[
        1
    ].tolist() == [3, 3]
    assert str(got[0]) == "<tf.RaggedTensorValue [[2, 4], [6]]>"
