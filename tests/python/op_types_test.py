"""Types that an op does not take: a TypeError where a graph is built, an InvalidArgumentError of the op eagerly. TensorFlow's texts, recorded."""

import numpy as np
import pytest

import weft as tf

CASES = [
    (lambda: tf.matmul(tf.constant([[1]], tf.int8), tf.constant([[1]], tf.int8)), "a", "int8",
     "bfloat16, float16, float32, float64, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128"),
    (lambda: tf.math.sqrt(tf.constant(1)), "x", "int32", "bfloat16, float16, float32, float64, complex64, complex128"),
    (lambda: tf.raw_ops.ConcatV2(values=[tf.constant([1]), tf.constant([2])], axis=tf.constant(0.0)), "axis", "float32", "int32, int64"),
    (lambda: tf.nn.softmax(tf.constant([1, 2])), "logits", "int32", "float16, bfloat16, float32, float64"),
    (lambda: tf.raw_ops.GatherV2(params=tf.constant([1, 2]), indices=tf.constant([0.0]), axis=tf.constant(0)), "indices", "float32", "int16, int32, int64"),
]  # fmt: skip


@pytest.mark.parametrize("call, parameter, given, allowed", CASES)
def test_a_type_that_is_not_allowed(call, parameter, given, allowed):
    text = f"Value passed to parameter '{parameter}' has DataType {given} not in list of allowed values: {allowed}"
    with pytest.raises(TypeError, match=text):
        tf.function(call)()
    with tf.Graph().as_default(), pytest.raises(TypeError, match=text):
        call()
    with pytest.raises(tf.errors.InvalidArgumentError):
        call()


def test_attributes_that_are_given():
    # Told by an attribute and not by an argument: the op says what it does not take.
    @tf.function
    def f():
        return tf.raw_ops.Cast(x=tf.constant([1.5]), DstT=tf.int32)

    np.testing.assert_array_equal(f(), [1])
