"""Operators, conversions and attributes of tensors, part 2."""

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


import copy, pickle

x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
show(lambda: x + None)
show(lambda: x + object())
show(lambda: x + "a")
show(lambda: x + tf.constant(1))
show(lambda: x + np.array([1]))
show(lambda: np.array([1.0]) + x)
show(lambda: np.float64(3) * x)
show(lambda: np.add(x, 1))
show(lambda: np.sum(x))
show(lambda: np.mean(x, axis=0))
show(lambda: np.concatenate([x, x]))
show(lambda: np.stack([x, x]).shape)
show(lambda: np.array(x, dtype=np.int32))
show(lambda: np.asarray(x) is x)
show(lambda: np.multiply(x, x))
show(lambda: np.transpose(x))
show(lambda: np.reshape(x, [4]))
show(lambda: np.where(x > 2, x, 0))
show(lambda: np.max(x))
show(lambda: np.argmax(x))
show(lambda: np.sort(x))
show(lambda: np.exp(tf.constant(0.0)))
show(lambda: np.array([tf.constant(1), tf.constant(2)]))
show(lambda: np.dot(x, x))
show(lambda: x.numpy().flags.writeable)
show(lambda: memoryview(tf.constant([1, 2, 3])).tolist())
show(lambda: bytes(tf.constant([1, 2], tf.uint8)))
show(lambda: [10, 20, 30][tf.constant(1)])
show(lambda: [10, 20, 30][tf.constant(1.0)])
show(lambda: range(tf.constant(3)))
show(lambda: range(tf.constant([3])))
show(lambda: "abc" * tf.constant(2))
show(lambda: x.shape.as_list())
show(lambda: x.dtype)
show(lambda: x.device)
show(lambda: x.name)
show(lambda: x.op)
show(lambda: x.graph)
show(lambda: x.ndim)
show(lambda: x.foo)
show(lambda: x.T)
show(lambda: x.astype)
show(lambda: x.get_shape())
show(lambda: x.set_shape([2, 2]))
show(lambda: x.set_shape([3, 2]))
show(lambda: x.eval())
show(lambda: x.consumers())
show(lambda: x.value_index)
with shown():
    x[0] = 1
with shown():
    del x[0]
show(lambda: pickle.loads(pickle.dumps(x)))
show(lambda: copy.copy(x) is x)
show(lambda: copy.deepcopy(x))
show(lambda: copy.deepcopy(x) is x)
show(lambda: type(x))
show(lambda: isinstance(x, tf.Tensor))
show(lambda: tf.Tensor)
show(lambda: tf.is_tensor(x))
show(lambda: tf.is_tensor(np.ones(2)))
show(lambda: tf.is_tensor(1))
show(lambda: x.__array__())
show(lambda: x.__array__(np.float64))
show(lambda: x.__index__())
show(lambda: tf.constant(3).__index__())
show(lambda: tf.constant(3.0).__index__())
show(lambda: tf.constant(True).__index__())
show(lambda: x.__len__())
show(lambda: tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(x)))
show(lambda: np.from_dlpack(x))
show(lambda: x.__dlpack_device__())
