"""Constants, conversions and casts, good and bad, part 2."""

import contextlib
import re

import numpy as np
import tensorflow as tf


def without_addresses(text):
    return re.sub(r" at 0x\w+", "", text)


@contextlib.contextmanager
def shown():
    """Prints the kind and the text of an error."""
    try:
        yield
    except Exception as e:
        print(type(e).__name__ + ":", without_addresses(str(e)))


def show(call):
    with shown():
        value = call()
        if value is not None:
            print(without_addresses(repr(value)))


show(lambda: tf.constant([tf.TensorShape([1, 2])]))
show(lambda: tf.constant(tf.float32))
show(lambda: tf.convert_to_tensor([1, 2], dtype_hint=tf.float32))
show(lambda: tf.convert_to_tensor("a", dtype_hint=tf.float32))
show(lambda: tf.convert_to_tensor([1, 2.0], dtype_hint=tf.int32))
show(lambda: tf.convert_to_tensor(tf.constant(1), dtype=tf.float32))
show(lambda: tf.convert_to_tensor(np.ones(2), dtype=tf.int32))
show(lambda: tf.convert_to_tensor(np.ones(2), dtype=tf.float32))
show(lambda: tf.convert_to_tensor(np.array([1.5]), dtype=tf.int32))
show(lambda: tf.convert_to_tensor(np.array([1]), dtype=tf.float32))
show(lambda: tf.convert_to_tensor(None))
show(lambda: tf.convert_to_tensor([]))
show(lambda: tf.convert_to_tensor([[1, 2], [3]]))
show(lambda: tf.convert_to_tensor(object()))
show(lambda: tf.convert_to_tensor([object()]))
show(lambda: tf.cast([1.9, -1.9], tf.int32))
show(lambda: tf.cast("1", tf.int32))
show(lambda: tf.cast(tf.constant("1"), tf.int32))
show(lambda: tf.cast([1, 0], bool))
show(lambda: tf.cast(1 + 2j, tf.float32))
show(lambda: tf.cast(1, "float64"))
show(lambda: tf.cast(1, "nope"))
show(lambda: tf.cast(None, tf.int32))
show(lambda: tf.cast([300, -1], tf.uint8))
show(lambda: tf.cast(tf.constant([1.5]), tf.complex64))
show(lambda: tf.saturate_cast([300.0, -5.0], tf.uint8))
show(lambda: tf.saturate_cast([2**31, -(2**31)], tf.int16))
show(lambda: tf.bitcast(tf.constant([1.0, 2.0]), tf.int32))
show(lambda: tf.bitcast(tf.constant([1, 2, 3], tf.uint8), tf.int16))
show(lambda: tf.bitcast(tf.constant([[1, 2], [3, 4]], tf.uint8), tf.int16))
show(lambda: tf.zeros(3))
show(lambda: tf.zeros([2, 0]))
show(lambda: tf.zeros([2, -1]))
show(lambda: tf.zeros("a"))
show(lambda: tf.zeros([2], tf.string))
show(lambda: tf.zeros([2], "bool"))
show(lambda: tf.ones([2], tf.string))
show(lambda: tf.ones([2, 2], tf.complex64))
show(lambda: tf.ones([1.5]))
show(lambda: tf.fill([2, 2], "a"))
show(lambda: tf.fill([2, 2], [1, 2]))
show(lambda: tf.fill(3, 1))
show(lambda: tf.fill([-1], 1))
show(lambda: tf.zeros_like(["a", "b"]))
show(lambda: tf.zeros_like([1, 2], dtype="float16"))
show(lambda: tf.ones_like([[True]]))
show(lambda: tf.ones_like("a"))
show(lambda: tf.eye(2, 3, [2]))
show(lambda: tf.eye(2, dtype=tf.string))
show(lambda: tf.eye(-1))
show(lambda: tf.linspace(0, 1, 3))
show(lambda: tf.linspace(0.0, 1.0, 1))
show(lambda: tf.linspace(0.0, 1.0, 0))
show(lambda: tf.linspace([0.0, 5.0], [1.0, 10.0], 3, axis=-1))
show(lambda: tf.range(5, 0, -2))
show(lambda: tf.range(0, 1, 0))
show(lambda: tf.range(3.5))
show(lambda: tf.range(1, 2.5, 0.5))
show(lambda: tf.range(5, dtype=tf.int64))
show(lambda: tf.range("a"))
show(lambda: tf.range(5, 1))
show(lambda: tf.range([1, 2]))
show(lambda: tf.one_hot([0, 2, -1, 5], 3))
show(lambda: tf.one_hot([0, 1], 2, on_value="a", off_value="b"))
show(lambda: tf.one_hot([0, 1], 2, on_value=1, off_value=0.5))
show(lambda: tf.one_hot([[0, 1]], 3, axis=0))
show(lambda: tf.one_hot([0.0, 1.0], 2))
show(lambda: tf.one_hot([0, 1], -2))
show(lambda: tf.sequence_mask([1, 3, 2], 5))
show(lambda: tf.sequence_mask([[1, 3], [2, 0]]))
show(lambda: tf.sequence_mask([1, 3], dtype=tf.int32))
show(lambda: tf.sequence_mask([1.0, 3.0]))
