"""Random numbers, part 1."""

import contextlib
import re

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


show(lambda: tf.random.set_seed(1))
show(lambda: tf.random.uniform([2]))
show(lambda: tf.random.normal([2]))
show(lambda: tf.random.uniform([2], seed=3))
show(lambda: tf.random.uniform([2], seed=3))
show(lambda: tf.random.set_seed(1))
show(lambda: tf.random.uniform([2], seed=3))
show(lambda: tf.random.uniform([2], maxval=10, dtype=tf.int32))
show(lambda: tf.random.uniform([2], dtype=tf.int32))
show(lambda: tf.random.uniform([2], 5, 2, dtype=tf.int32))
show(lambda: tf.random.uniform([2], 5.0, 2.0))
show(lambda: tf.random.uniform([2], dtype=tf.string))
show(lambda: tf.random.uniform("a"))
show(lambda: tf.random.uniform([-1]))
show(lambda: tf.random.uniform(3))
show(lambda: tf.random.uniform([2], minval="a"))
show(lambda: tf.random.uniform([2], maxval=[1.0, 2.0]))
show(lambda: tf.random.uniform([2], maxval=None))
show(lambda: tf.random.normal([2], mean=[1.0, 100.0], stddev=0.1))
show(lambda: tf.random.normal([2, 2], dtype=tf.float64))
show(lambda: tf.random.normal([2], dtype=tf.float16))
show(lambda: tf.random.normal([2], dtype=tf.int32))
show(lambda: tf.random.normal([2], mean="a"))
show(lambda: tf.random.truncated_normal([3]))
show(lambda: tf.random.gamma([2], 2.0))
show(lambda: tf.random.gamma([2], [1.0, 2.0], beta=3.0))
show(lambda: tf.random.poisson([2], [1.0, 5.0]))
show(lambda: tf.random.categorical([[0.0, 1.0, 2.0]], 4))
show(lambda: tf.random.shuffle([1, 2, 3, 4]))
show(lambda: tf.random.poisson([2], -1.0))
show(lambda: tf.random.categorical([0.0, 1.0], 2))
show(lambda: tf.random.categorical([[0.0, 1.0]], -2))
show(lambda: tf.random.shuffle(3))
show(lambda: tf.random.set_seed("a"))
show(lambda: tf.random.set_seed(None))
show(lambda: tf.random.set_seed(2**70))
show(lambda: tf.random.set_seed(-5))
show(lambda: tf.random.uniform([1]))
show(lambda: tf.random.set_seed(1.5))
