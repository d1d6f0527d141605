"""Eager tensors: values, printing, conversion, errors. What is expected was read off TensorFlow 2.21."""

import numpy as np
import pytest

import weft as tf


def test_printing():
    assert str(tf.constant([1.0, 2.0])) == "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"
    assert repr(tf.constant([1, 2])) == "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>"
    assert repr(tf.constant(1)) == "<tf.Tensor: shape=(), dtype=int32, numpy=1>"
    assert repr(tf.constant("a")) == "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"
    assert repr(tf.constant(1 + 2j)) == "<tf.Tensor: shape=(), dtype=complex128, numpy=(1+2j)>"


def test_types_of_python_values():
    assert tf.constant(2**40).dtype is tf.int64
    assert tf.constant([1, 2.5]).dtype is tf.float32
    assert tf.constant([]).dtype is tf.float32
    assert tf.constant(np.array([1.5, 2.5]), dtype=tf.int32).numpy().tolist() == [1, 2]
    assert (tf.constant(1.0) + np.array([1.0, 2.0])).dtype is tf.float32
    assert (np.array([1.0, 2.0]) + tf.constant(1.0)).numpy().tolist() == [2.0, 3.0]
    assert tf.constant(300, dtype=tf.uint8).numpy() == 44


@pytest.mark.parametrize(
    "value, text",
    [
        (lambda: tf.constant([[1, 2], [3]]), "Can't convert non-rectangular Python sequence to Tensor."),
        (lambda: tf.constant(["a", 1]), "Can't convert Python sequence with mixed types to Tensor."),
        (lambda: tf.constant(2**70), "Can't convert Python sequence with out-of-range integer to Tensor."),
        (
            lambda: tf.constant(None),
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.",
        ),
    ],
)
def test_values_that_are_no_tensors(value, text):
    with pytest.raises(ValueError) as error:
        value()
    assert str(error.value) == text


def test_errors_of_ops():
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        tf.constant([1, 2]) + tf.constant([1, 2, 3])
    assert str(error.value) == (
        "{{function_node __wrapped__AddV2_device_/job:localhost/replica:0/task:0/device:CPU:0}} "
        "Incompatible shapes: [2] vs. [3] [Op:AddV2] name: "
    )
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        tf.constant([1, 2]) + 1.5
    assert (
        str(error.value)
        == "cannot compute AddV2 as input #1(zero-based) was expected to be a int32 tensor but is a float tensor [Op:AddV2] name: "
    )
    with pytest.raises(TypeError) as error:
        tf.raw_ops.AddV2(x=1, y=2.5)
    assert str(error.value) == "Cannot convert 2.5 to EagerTensor of dtype int32"
    with pytest.raises(TypeError) as error:
        hash(tf.constant(1))
    assert str(error.value) == "Tensor is unhashable. Instead, use tensor.ref() as the key."


def test_arrays_share_memory_one_way():
    t = tf.constant([[1, 2], [3, 4]])
    assert np.shares_memory(np.asarray(t), np.asarray(t))
    copy = t.numpy()
    copy[0, 0] = 9
    assert t.numpy()[0, 0] == 1
    assert memoryview(t).shape == (2, 2)


def test_a_graph_of_version_1_names_nodes_as_tensorflow_does():
    with tf.Graph().as_default() as g:
        x = tf.constant([1, 2])
        y = (x + x) * 3
        assert [o.name for o in g.get_operations()] == ["Const", "add", "Const_1", "mul"] or [
            o.name for o in g.get_operations()
        ] == ["Const", "add", "mul/y", "mul"]
        assert str(y) == 'Tensor("mul:0", shape=(2,), dtype=int32)'
        with pytest.raises(TypeError):
            x + tf.constant([1.0])


def test_tensors_in_lists_are_cast_to_the_type_that_is_asked_for():
    i, f = tf.constant(3), tf.constant(2.7)
    assert tf.convert_to_tensor([i, 2], tf.int64).dtype == tf.int64
    assert tf.convert_to_tensor([[f, 1], [1, 2]], tf.int32).numpy().tolist() == [[2, 1], [1, 2]]
    assert tf.scatter_nd(tf.constant([[1]], tf.int64), tf.constant([1.0]), (i,)).numpy().tolist() == [0.0, 1.0, 0.0]
    assert tf.add(tf.constant(1, tf.int64), [i, 2]).numpy().tolist() == [4, 3]
    assert tf.reshape(tf.zeros([6]), (tf.constant(2.0), 3)).shape == [2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.convert_to_tensor([i, f])
