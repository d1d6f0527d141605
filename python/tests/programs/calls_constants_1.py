"""Constants, conversions and casts, good and bad, part 1."""

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


show(lambda: tf.constant([1, 2.5]))
show(lambda: tf.constant([1, "a"]))
show(lambda: tf.constant([[1], [2, 3]]))
show(lambda: tf.constant([]))
show(lambda: tf.constant([[]]))
show(lambda: tf.constant(None))
show(lambda: tf.constant([None]))
show(lambda: tf.constant([1, None]))
show(lambda: tf.constant(1, dtype="string"))
show(lambda: tf.constant("a", dtype=tf.int32))
show(lambda: tf.constant(1.5, dtype=tf.int32))
show(lambda: tf.constant(300, dtype=tf.uint8))
show(lambda: tf.constant(-1, dtype=tf.uint8))
show(lambda: tf.constant(2**40))
show(lambda: tf.constant(2**70))
show(lambda: tf.constant(2**40, tf.int64))
show(lambda: tf.constant(1e300))
show(lambda: tf.constant(True, tf.float32))
show(lambda: tf.constant([True, 2]))
show(lambda: tf.constant([True, False]))
show(lambda: tf.constant(1 + 2j))
show(lambda: tf.constant([1, 1j]))
show(lambda: tf.constant(b"bytes\xff"))
show(lambda: tf.constant("héllo"))
show(lambda: tf.constant(["a", b"b"]))
show(lambda: tf.constant([["a"], ["b"]]))
show(lambda: tf.constant(np.array(["x", "yy"])))
show(lambda: tf.constant(np.array([1, 2], dtype=object)))
show(lambda: tf.constant(np.array([b"x", b"yy"])))
show(lambda: tf.constant(np.array(["x", 1], dtype=object)))
show(lambda: tf.constant(np.float16(1.5)))
show(lambda: tf.constant({"a": 1}))
show(lambda: tf.constant({1, 2}))
show(lambda: tf.constant((1, 2)))
show(lambda: tf.constant(range(5)))
show(lambda: tf.constant(iter([1])))
show(lambda: tf.constant(i for i in range(3)))
show(lambda: tf.constant(lambda: 1))
show(lambda: tf.constant([1, 2, 3], shape=[3, 1]))
show(lambda: tf.constant([1, 2, 3], shape=[2, 2]))
show(lambda: tf.constant(7, shape=(2, 3)))
show(lambda: tf.constant([7], shape=(2, 3)))
show(lambda: tf.constant(7, shape=(-1,)))
show(lambda: tf.constant(7, shape=(None,)))
show(lambda: tf.constant(7, dtype="foo"))
show(lambda: tf.constant(7, dtype=int))
show(lambda: tf.constant(7, dtype=float))
show(lambda: tf.constant(7, dtype=np.int16))
show(lambda: tf.constant(7, dtype=bool))
show(lambda: tf.constant("7", dtype=str))
show(lambda: tf.constant(7, name="my name"))
show(lambda: tf.constant(value=7))
show(lambda: tf.constant())
show(lambda: tf.constant(1, 2, 3, 4, 5))
show(lambda: tf.constant(float("nan")))
show(lambda: tf.constant([float("inf"), -float("inf"), 0.0, -0.0]))
show(lambda: tf.constant([1e-8, 1e8]))
show(lambda: tf.constant(1e-45))
show(lambda: tf.constant([0.1], tf.float16))
show(lambda: tf.constant([0.1], tf.bfloat16))
show(lambda: tf.constant([0.1], tf.float64))
show(lambda: tf.constant([1, 2], tf.float8_e5m2))
show(lambda: tf.constant([1, 2], tf.float8_e4m3fn))
show(lambda: tf.constant([1, 2], tf.int4))
show(lambda: tf.constant([1, -2], tf.qint8))
show(lambda: tf.constant(tf.constant([1, 2]), dtype=tf.float32))
show(lambda: tf.constant(tf.Variable(3)))
show(lambda: tf.constant([tf.Variable(3), tf.Variable(4)]))
show(lambda: tf.constant(tf.ragged.constant([[1], [2, 3]])))
show(lambda: tf.constant(tf.TensorShape([1, 2])))
