"""Arithmetic, reductions and graphs with arguments that do not fit, part 2."""

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


show(lambda: tf.add("a", 1))
show(lambda: tf.add([1], [[1, 2], [3]]))
show(lambda: tf.add(None, 1))
show(lambda: tf.add(1))
show(lambda: tf.add(1, 2, 3, 4))
show(lambda: tf.add(x=1, y=2, z=3))
show(lambda: tf.multiply(tf.constant(1), tf.constant(1.0)))
show(lambda: tf.subtract(np.float32(1), np.float64(2)))
show(lambda: tf.divide(1, 0))
show(lambda: tf.math.divide_no_nan(1.0, 0.0))
show(lambda: tf.math.floordiv(7, -2))
show(lambda: tf.math.floormod(7, -2))
show(lambda: tf.truncatediv(7, -2))
show(lambda: tf.truncatemod(7, -2))
show(lambda: tf.math.mod(-7, 3))
show(lambda: tf.realdiv(1.0, 2.0))
show(lambda: tf.abs("a"))
show(lambda: tf.negative(True))
show(lambda: tf.sqrt(4))
show(lambda: tf.sqrt(-1.0))
show(lambda: tf.sqrt("a"))
show(lambda: tf.exp(1))
show(lambda: tf.math.log(0.0))
show(lambda: tf.pow(2, 0.5))
show(lambda: tf.maximum(1, 2.0))
show(lambda: tf.logical_and(1, 2))
show(lambda: tf.logical_not([1]))
show(lambda: tf.equal(1, "a"))
show(lambda: tf.equal([1, 2], [1, 2, 3]))
show(lambda: tf.not_equal([1, 2], [1, 2, 3]))
show(lambda: tf.less(1, None))
show(lambda: tf.reduce_sum("a"))
show(lambda: tf.reduce_sum(["a", "b"]))
show(lambda: tf.reduce_sum([1, 2], axis=1))
show(lambda: tf.reduce_sum([[1, 2]], axis=[0, 0]))
show(lambda: tf.reduce_sum([[1, 2]], axis=-3))
show(lambda: tf.reduce_sum([[1, 2]], axis="a"))
show(lambda: tf.reduce_sum([[1, 2]], axis=1.5))
show(lambda: tf.reduce_sum([True, False]))
show(lambda: tf.reduce_mean([1, 2]))
show(lambda: tf.reduce_mean([]))
show(lambda: tf.reduce_max([]))
show(lambda: tf.reduce_max(["a"]))
show(lambda: tf.reduce_any([1, 0]))
show(lambda: tf.reduce_all([[True, False], [True, True]], 1, keepdims=True))
show(lambda: tf.reduce_prod([]))
show(lambda: tf.reduce_logsumexp([[]], axis=1))
show(lambda: tf.argmax([[1, 5], [7, 2]], axis=5))
show(lambda: tf.argmax([]))
show(lambda: tf.argmax("a"))
show(lambda: tf.cumsum([1, 2, 3], axis=1))
show(lambda: tf.cumsum([1, 2, 3], exclusive=True, reverse=True))
show(lambda: tf.add_n([]))
show(lambda: tf.add_n([1, 2.0]))
show(lambda: tf.add_n([[1], [1, 2]]))
show(lambda: tf.clip_by_value([1, 5], 3, 2))
show(lambda: tf.clip_by_value([1, 5], 1.5, 2))
show(lambda: tf.clip_by_norm([3.0, 4.0], 1.0))
show(lambda: tf.clip_by_global_norm([[3.0, 4.0], None], 1.0))
show(lambda: tf.clip_by_global_norm(3, 1.0))
show(lambda: tf.round([0.5, 1.5, 2.5]))
show(lambda: tf.math.rint(2.5))
show(lambda: tf.math.ceil(1.2))
show(lambda: tf.floor(-1.5))
show(lambda: tf.sign(-3))
show(lambda: tf.linalg.inv([[1.0, 2.0], [2.0, 4.0]]))
show(lambda: tf.linalg.inv([[1, 2], [3, 4]]))
show(lambda: tf.linalg.inv([1.0]))
show(lambda: tf.linalg.det([[1.0, 2.0, 3.0]]))
show(lambda: tf.linalg.diag([1, 2]))
show(lambda: tf.linalg.diag_part([[1, 2], [3, 4]]))
show(lambda: tf.linalg.trace([[1, 2], [3, 4]]))
show(lambda: tf.norm([3.0, 4.0]))
show(lambda: tf.norm([3, 4]))
show(lambda: tf.norm([3.0, 4.0], ord=1))
show(lambda: tf.norm([3.0, 4.0], ord=np.inf))
show(lambda: tf.norm([3.0, 4.0], ord="foo"))
show(lambda: tf.norm([3.0, 4.0], ord=-1))
show(lambda: tf.norm([[3.0, 4.0]], ord="fro", axis=[0, 1]))
show(lambda: tf.linalg.normalize([3.0, 4.0]))
