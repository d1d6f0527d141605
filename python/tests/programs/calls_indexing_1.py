"""Slices, gathers, scatters and reshapes, with arguments that do not fit, part 1."""

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


x = tf.constant([[1, 2, 3], [4, 5, 6]])
with shown():
    x[0, 1]
    x[0][1]
    x[:, 1]
    x[..., -1]
    x[::-1]
    x[:, ::-1]
show(lambda: x[tf.newaxis].shape)
show(lambda: x[:, None].shape)
show(lambda: x[None, ..., None].shape)
show(lambda: x[2])
show(lambda: x[-3])
show(lambda: x[0, 3])
show(lambda: x[0, 0, 0])
show(lambda: x[1.0])
show(lambda: x["a"])
show(lambda: x[None, None, 0, 0])
show(lambda: x[[0, 1]])
show(lambda: x[(0, 1)])
show(lambda: x[np.array([0, 1])])
show(lambda: x[tf.constant([0, 1])])
show(lambda: x[tf.constant(1)])
show(lambda: x[tf.constant(1, tf.int64)])
show(lambda: x[tf.constant(1.0)])
show(lambda: x[np.int64(1)])
show(lambda: x[True])
show(lambda: x[x > 2])
show(lambda: x[tf.constant(0) : tf.constant(2), 1])
show(lambda: x[0:1.5])
show(lambda: x[::0])
show(lambda: x[5:])
show(lambda: x[..., ...])
show(lambda: x[slice(0, 1)])
show(lambda: x[slice(None), 0])
show(lambda: x[None])
show(lambda: x[...])
show(lambda: x[()])
show(lambda: x[:, 1:2][0])
show(lambda: x["0"])
show(lambda: x[object()])
show(lambda: x[0:"a"])
show(lambda: x[{}])
show(lambda: tf.gather(x, [2]))
show(lambda: tf.gather(x, [-1]))
show(lambda: tf.gather(x, [0, 2], axis=1))
show(lambda: tf.gather(x, [0, 2], axis=2))
show(lambda: tf.gather(x, [0, 2], axis=-3))
show(lambda: tf.gather(x, [0.5]))
show(lambda: tf.gather(x, "a"))
show(lambda: tf.gather(x, [[0, 1], [1, 2]], batch_dims=1))
show(lambda: tf.gather(x, [[0, 1], [1, 2]], batch_dims=3))
show(lambda: tf.gather(x, [0, 1], batch_dims=1))
show(lambda: tf.gather(x, [0, 1], batch_dims=-1))
show(lambda: tf.gather_nd(x, [[0, 1], [1, 2]]))
show(lambda: tf.gather_nd(x, [[0, 3]]))
show(lambda: tf.gather_nd(x, [[0, 1, 2]]))
show(lambda: tf.gather_nd(x, [0.0]))
show(lambda: tf.gather_nd(x, [[0], [1]], batch_dims=1))
show(lambda: tf.slice(x, [0, 1], [2, 2]))
show(lambda: tf.slice(x, [0, 1], [-1, -1]))
show(lambda: tf.slice(x, [0, 1], [2, 3]))
show(lambda: tf.slice(x, [0], [1]))
show(lambda: tf.slice(x, [0, -1], [1, 1]))
show(lambda: tf.strided_slice(x, [0, 0], [2, 3], [1, 2]))
show(lambda: tf.strided_slice(x, [0, 0], [2, 3], [1, 0]))
show(lambda: tf.strided_slice(x, [0], [1], shrink_axis_mask=1))
show(lambda: tf.boolean_mask(x, [True, False]))
show(lambda: tf.boolean_mask(x, [True, False, True], axis=1))
show(lambda: tf.boolean_mask(x, [True]))
show(lambda: tf.boolean_mask(x, [1, 0]))
show(lambda: tf.boolean_mask(x, True))
show(lambda: tf.boolean_mask(x, x > 3))
show(lambda: tf.where(x > 3))
show(lambda: tf.where(x > 3, x, 0))
show(lambda: tf.where(x > 3, x, [1, 2]))
show(lambda: tf.where([True, False, True], x, -x))
show(lambda: tf.where(x > 3, x))
show(lambda: tf.where(x))
show(lambda: tf.where(["a", ""]))
show(lambda: tf.where(x > 3, x, 1.5))
show(lambda: tf.where(x, x, x))
show(lambda: tf.tensor_scatter_nd_update(x, [[0, 0]], [9]))
show(lambda: tf.tensor_scatter_nd_update(x, [[5, 0]], [9]))
show(lambda: tf.tensor_scatter_nd_update(x, [[0, 0]], [9, 8]))
show(lambda: tf.tensor_scatter_nd_update(x, [[0]], [[7, 8, 9]]))
show(lambda: tf.tensor_scatter_nd_update(x, [0], [9]))
show(lambda: tf.tensor_scatter_nd_update(x, [[0, 0]], [1.5]))
show(lambda: tf.tensor_scatter_nd_add(x, [[0, 0], [0, 0]], [9, 1]))
