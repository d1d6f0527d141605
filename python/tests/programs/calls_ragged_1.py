"""Ragged tensors, part 1."""

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


R = tf.ragged
rt = R.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
show(lambda: rt)
show(lambda: print(rt))
show(lambda: rt.shape)
show(lambda: rt.dtype)
show(lambda: rt.ragged_rank)
show(lambda: rt.row_splits)
show(lambda: rt.values)
show(lambda: rt.flat_values)
show(lambda: rt.nested_row_splits)
show(lambda: rt.nested_row_lengths())
show(lambda: rt.bounding_shape())
show(lambda: rt.nrows())
show(lambda: rt.row_lengths())
show(lambda: rt.row_starts())
show(lambda: rt.row_limits())
show(lambda: rt.value_rowids())
show(lambda: rt.uniform_row_length)
show(lambda: len(rt))
show(lambda: bool(rt))
show(lambda: rt.numpy())
show(lambda: rt.to_list())
show(lambda: rt.to_tensor())
show(lambda: rt.to_tensor(default_value=-1, shape=[None, 6]))
show(lambda: rt.to_tensor(shape=[2, 2]))
show(lambda: rt.to_tensor("a"))
show(lambda: rt.to_sparse())
show(lambda: rt[0])
show(lambda: rt[1:3])
show(lambda: rt[:, :2])
show(lambda: rt[0, 1])
show(lambda: rt[-1])
show(lambda: rt[..., 0:1])
show(lambda: rt[:, 0])
show(lambda: rt[10])
show(lambda: rt[0, 10])
show(lambda: rt["a"])
show(lambda: rt[tf.constant(0)])
show(lambda: rt[0:1, 0:1, 0:1])
show(lambda: rt[:, ::2])
show(lambda: rt[::-1])
show(lambda: rt[tf.newaxis].shape)
with shown():
    rt[0] = 1
show(lambda: list(rt))
for r in R.constant([[1], [2, 3]]):
    print(r)
show(lambda: rt + 1)
show(lambda: rt + rt)
show(lambda: 1 - rt)
show(lambda: rt * rt)
show(lambda: rt / 2)
show(lambda: rt // 2)
show(lambda: rt % 2)
show(lambda: -rt)
show(lambda: abs(rt))
show(lambda: rt**2)
show(lambda: rt > 2)
show(lambda: rt == 1)
show(lambda: rt != rt)
show(lambda: rt + R.constant([[1]]))
show(lambda: rt + [[1], [2], [3], [4], [5]])
show(lambda: rt + "a")
show(lambda: ~R.constant([[True], [False, True]]))
show(lambda: hash(rt))
show(lambda: rt in [rt])
show(lambda: np.array(rt))
show(lambda: np.array(R.constant([[1, 2], [3, 4]])))
show(lambda: tf.reduce_sum(rt, axis=1))
show(lambda: tf.reduce_sum(rt, axis=0))
show(lambda: tf.reduce_sum(rt))
show(lambda: tf.reduce_mean(tf.cast(rt, tf.float32), axis=1))
show(lambda: tf.reduce_max(rt, axis=1))
show(lambda: tf.reduce_all(rt > 0, axis=1))
