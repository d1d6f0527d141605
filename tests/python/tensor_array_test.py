"""tf.TensorArray; expected values and texts are TensorFlow's."""

import numpy as np
import pytest
import weft as tf

TA = tf.TensorArray


def values(x):
    return x.numpy().tolist()


def test_eager():
    assert values(TA(tf.float32, 2, dynamic_size=True).write(5, 1.0).stack()) == [0, 0, 0, 0, 0, 1]
    assert values(TA(tf.float32, 2).write(0, 1).write(0, 3.0).read(0)) == 3
    assert values(TA(tf.float32, 2, element_shape=[2]).write(0, [1.0, 2]).stack()) == [[1, 2], [0, 0]]
    assert TA(tf.float32, 0, element_shape=[2]).stack().shape == [0, 2] and TA(tf.float32, 0).stack().shape == [0]
    assert values(TA(tf.float32, 3).unstack([1.0, 2.0, 3.0]).gather([2, 0])) == [3, 1]
    assert values(TA(tf.float32, 2, dynamic_size=True).unstack([1.0, 2.0, 3.0]).size()) == 3
    assert values(TA(tf.float32, 3).scatter([2, 0], [[1.0, 2.0], [3.0, 4.0]]).gather([0, 2])) == [[3, 4], [1, 2]]
    free = TA(tf.float32, 3, infer_shape=False)
    assert values(free.write(0, [1.0]).write(1, [2.0, 3.0]).write(2, []).concat()) == [1, 2, 3]
    assert values(TA(tf.float32, 3, infer_shape=False).split([1.0, 2.0, 3.0, 4.0], [1, 2, 1]).read(1)) == [2, 3]
    assert values(TA(tf.string, 2).unstack(["a", "b"]).stack()) == [b"a", b"b"]
    assert values(TA("float32", tf.constant(3)).write(tf.constant(1), 1.0).read(np.int64(1))) == 1
    a = TA(tf.float32, 2).write(0, [1.0])
    assert (a.dtype, a.dynamic_size, a.element_shape, a.handle) == (tf.float32, False, tf.TensorShape([1]), None)
    a.close()
    assert values(a.size()) == 0


def test_eager_reads_clear():
    a = TA(tf.float32, 2).unstack([1.0, 2.0])
    a.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        a.read(0)
    assert (
        str(e.value) == "Could not read index 0 twice because it was cleared after a previous read (perhaps try "
        "setting clear_after_read = false?)"
    )
    a = TA(tf.float32, 2, clear_after_read=False).unstack([1.0, 2.0])
    assert values(a.read(0)) == values(a.read(0)) == 1


@pytest.mark.parametrize(
    "code, kind, text",
    [
        (lambda: TA(tf.float32), ValueError, "Size must be declared for TensorArrays when eager execution is enabled."),
        (
            lambda: TA(tf.float32, 2).write(2, 1.0),
            tf.errors.OutOfRangeError,
            "Tried to write to index 2 but array is not resizeable and size is: 2 ",
        ),
        (
            lambda: TA(tf.float32, 2).write(-1, 1.0),
            tf.errors.OutOfRangeError,
            "Writing to negative indices (index -1) is not allowed.",
        ),
        (
            lambda: TA(tf.float32, 2).read(5),
            tf.errors.OutOfRangeError,
            "Tried to read from index 5 but array size is: 2 ",
        ),
        (
            lambda: TA(tf.float32, 2).write(0, tf.constant(1)),
            tf.errors.InvalidArgumentError,
            "TensorArray dtype is float32 but Op is trying to write dtype int32 ",
        ),
        (
            lambda: TA(tf.float32, 2, element_shape=[2]).write(0, [1.0]),
            ValueError,
            "Incompatible shape for value ((1,)), expected ((2,))",
        ),
        (
            lambda: TA(tf.float32, 2).unstack([1.0, 2.0, 3.0]),
            ValueError,
            "Cannot unstack 3 tensors into a TensorArray of static size 2 ",
        ),
        (
            lambda: TA(tf.float32, 2).write(0, 1.0).concat(),
            tf.errors.InvalidArgumentError,
            "Concat saw a scalar shape at index 0 but requires at least vectors.",
        ),
        (
            lambda: TA(tf.float32, 3).split([1.0, 2.0, 3.0, 4.0], [1, 2]),
            tf.errors.InvalidArgumentError,
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is 3 and value's shape is: [4] ",
        ),
        (
            lambda: TA(tf.float32, 2).stack(),
            ValueError,
            "Cannot convert a partially known TensorShape <unknown> to a Tensor.",
        ),
    ],
)
def test_eager_errors(code, kind, text):
    with pytest.raises(kind) as e:
        code()
    assert str(e.value) == text


def test_graph():
    shapes = []

    @tf.function
    def f(x):
        a = TA(tf.float32, 3)
        a = a.write(0, x).write(1, x + x).write(2, x)
        stacked = a.stack()
        shapes.extend([a.element_shape, stacked.shape, a.gather([0, 1]).shape, a.read(0).shape])
        return stacked, a.size()

    stacked, size = f(tf.constant([1.0, 2.0]))
    assert values(stacked) == [[1, 2], [2, 4], [1, 2]] and values(size) == 3
    assert [s.as_list() for s in shapes] == [[2], [3, 2], [2, 2], [2]]
    types = [op.type for op in f.get_concrete_function(tf.constant([1.0, 2.0])).graph.get_operations()]
    assert (
        types.count("TensorListSetItem") == 3
        and types.count("TensorListStack") == 1
        and types.count("TensorListReserve") == 1
    )


def test_graph_forms():
    @tf.function
    def f():
        a = TA(tf.float32, 0, dynamic_size=True).write(2, 1.5)
        b = TA(tf.float32, 2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2])
        c = TA(tf.float32, 2).scatter([1, 0], [[1.0, 2.0], [3.0, 4.0]])
        d = TA(tf.float32, 3).unstack([1.0, 2.0, 3.0])
        return a.stack(), a.size(), b.concat(), b.read(1), c.stack(), d.read(1), d.identity().stack()

    assert [values(v) for v in f()] == [[0, 0, 1.5], 3, [1, 2, 3], [2, 3], [[3, 4], [1, 2]], 2, [1, 2, 3]]


def test_graph_errors():
    @tf.function
    def shapes():
        TA(tf.float32, 2).write(0, [1.0, 2.0]).write(1, [1.0])

    with pytest.raises(ValueError, match=r"Inconsistent shapes: saw \(1,\) but expected \(2,\) "):
        shapes()

    @tf.function
    def outside():
        return TA(tf.float32, 2).write(5, 1.0).stack()

    with pytest.raises(tf.errors.InvalidArgumentError, match="Trying to modify element 5 in a list with 2 elements."):
        outside()


def test_gradients():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        a = TA(tf.float32, 3).unstack(x)
        y = a.read(0) * 2.0 + a.read(2) * 3.0
    assert values(tape.gradient(y, x)) == [2, 0, 3]

    @tf.function
    def f(x):
        return TA(tf.float32, 3).write(0, x).write(1, x * 2.0).write(2, x * 3.0).stack()

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert values(tape.gradient(y, x)) == [6, 6, 6]


def test_function_argument():
    @tf.function
    def f(a):
        return a.read(0), a.stack()

    assert [values(v) for v in f(TA(tf.float32, 2).unstack([1.0, 2.0]))] == [1, [1, 2]]


def test_spec():
    s = tf.TensorArraySpec([2], tf.float32, True, False)
    assert (
        repr(s) == "TensorArraySpec(TensorShape([2]), tf.float32, True, False)"
        and repr(tf.TensorArraySpec()) == "TensorArraySpec(TensorShape(None), tf.float32, False, True)"
    )
    assert s == tf.TensorArraySpec([2], tf.float32, True, False) and s.is_compatible_with(
        tf.TensorArraySpec([None], tf.float32, True, False)
    )
    array = TA(tf.float32, 2)
    assert tf.type_spec_from_value(array) == tf.TensorArraySpec.from_value(array) == tf.TensorArraySpec()


def test_function_gives_the_list():
    @tf.function
    def f():
        return TA(tf.float32, 2).unstack([1.0, 2.0])

    assert f().dtype == tf.variant


def test_names():
    @tf.function
    def f(x):
        return TA(tf.float32, 3).write(0, x).stack()

    names = [op.name for op in f.get_concrete_function(tf.constant([1.0, 2.0])).graph.get_operations()]
    assert names[:4] == ["x", "TensorArrayV2/element_shape", "TensorArrayV2/num_elements", "TensorArrayV2"]
    assert "TensorArrayV2Stack/TensorListStack/element_shape" in names
