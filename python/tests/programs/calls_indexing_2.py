"""Slices, gathers, scatters and reshapes, with arguments that do not fit, part 2."""

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


x = tf.constant([[1, 2, 3], [4, 5, 6]])
show(lambda: tf.tensor_scatter_nd_max(x, [[0, 0]], [100]))
show(lambda: tf.tensor_scatter_nd_min(x, [[0, 0]], [-100]))
show(lambda: tf.tensor_scatter_nd_sub(x, [[0, 0]], [100]))
show(lambda: tf.scatter_nd([[1], [3]], [9, 10], [5]))
show(lambda: tf.scatter_nd([[1], [7]], [9, 10], [5]))
show(lambda: tf.scatter_nd([[1], [3]], [9, 10], [-5]))
show(lambda: tf.scatter_nd([1], [9], 5))
show(lambda: tf.concat([x, x], 2))
show(lambda: tf.concat([x, x], -1))
show(lambda: tf.concat([x, [[1, 2]]], 0))
show(lambda: tf.concat([x, [1, 2]], 0))
show(lambda: tf.concat(x, 0))
show(lambda: tf.concat([x], 0))
show(lambda: tf.concat([x, tf.cast(x, tf.float32)], 0))
show(lambda: tf.concat([[1], [2.5]], 0))
show(lambda: tf.concat([1, 2], 0))
show(lambda: tf.concat([x, x], "a"))
show(lambda: tf.stack([x, x], axis=2).shape)
show(lambda: tf.stack([x, x], axis=4))
show(lambda: tf.stack([x, [1, 2]]))
show(lambda: tf.stack([]))
show(lambda: tf.stack([1, 2.5]))
show(lambda: tf.stack(5))
show(lambda: tf.unstack(x))
show(lambda: tf.unstack(x, axis=1))
show(lambda: tf.unstack(x, axis=3))
show(lambda: tf.unstack(x, num=5))
show(lambda: tf.unstack(5))
show(lambda: tf.split(x, 3, axis=1))
show(lambda: tf.split(x, 2, axis=1))
show(lambda: tf.split(x, [1, 2], axis=1))
show(lambda: tf.split(x, [1, 1], axis=1))
show(lambda: tf.split(x, [1, -1], axis=1))
show(lambda: tf.split(x, 2, axis=5))
show(lambda: tf.split(x, 0))
show(lambda: tf.reshape(x, [3, 2]))
show(lambda: tf.reshape(x, [-1]))
show(lambda: tf.reshape(x, [-1, -1]))
show(lambda: tf.reshape(x, [4, 2]))
show(lambda: tf.reshape(x, [-1, 4]))
show(lambda: tf.reshape(x, 6))
show(lambda: tf.reshape(x, [2.5]))
show(lambda: tf.reshape(x, [-2, 3]))
show(lambda: tf.reshape(x, "a"))
show(lambda: tf.reshape(x, [None, 2]))
show(lambda: tf.transpose(x))
show(lambda: tf.transpose(x, [0]))
show(lambda: tf.transpose(x, [0, 0]))
show(lambda: tf.transpose(x, [1, 2]))
show(lambda: tf.transpose(x, perm=[1, 0], conjugate=True))
show(lambda: tf.expand_dims(x, 5))
show(lambda: tf.expand_dims(x, -1).shape)
show(lambda: tf.expand_dims(x, [0, 1]))
show(lambda: tf.squeeze(x, 0))
show(lambda: tf.squeeze([[1]], [0]))
show(lambda: tf.squeeze(x, 5))
show(lambda: tf.tile(x, [1, 2]))
show(lambda: tf.tile(x, [1]))
show(lambda: tf.tile(x, [-1, 2]))
show(lambda: tf.repeat(x, 2, axis=0))
show(lambda: tf.repeat(x, [1, 2], axis=0))
show(lambda: tf.repeat([1, 2], 2))
show(lambda: tf.repeat(x, 2))
show(lambda: tf.pad(x, [[1, 1], [0, 0]]))
show(lambda: tf.pad(x, [[1, 1]]))
show(lambda: tf.pad(x, [[1, 1], [2, 2]], "REFLECT"))
show(lambda: tf.pad(x, [[2, 2], [0, 0]], "REFLECT"))
show(lambda: tf.pad(x, [[1, 1], [1, 1]], "SYMMETRIC"))
show(lambda: tf.pad(x, [[1, 1], [1, 1]], "foo"))
show(lambda: tf.pad(x, [[-1, 1], [1, 1]]))
show(lambda: tf.pad(x, [[0, 1], [0, 0]], constant_values=9))
show(lambda: tf.pad(x, [[0, 1], [0, 0]], constant_values=0.5))
show(lambda: tf.reverse(x, [1]))
show(lambda: tf.reverse(x, [2]))
show(lambda: tf.reverse(x, [0, 0]))
show(lambda: tf.reverse(x, 0))
show(lambda: tf.roll(x, 1, 0))
show(lambda: tf.roll(x, [1, 2], [0, 1]))
show(lambda: tf.roll(x, 1, 5))
show(lambda: tf.reverse_sequence(x, [1, 3], seq_axis=1))
