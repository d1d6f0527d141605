"""Types and shapes, part 3."""

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


import pickle, copy

s = tf.TensorShape([1, None, 3])
show(lambda: s.with_rank_at_least(4))
show(lambda: s.with_rank_at_most(2))
show(lambda: s.assert_has_rank(2))
show(lambda: s.assert_same_rank([1, 2]))
show(lambda: s.assert_is_compatible_with([9, 9, 9]))
show(lambda: s.assert_is_fully_defined())
show(lambda: s.most_specific_compatible_shape([1, 2, 4]))
show(lambda: s.most_specific_common_supertype([tf.TensorShape([1, 2, 4])]))
show(lambda: s.as_proto())
show(lambda: tf.TensorShape(s.as_proto()))
show(lambda: tf.TensorShape(5))
show(lambda: tf.TensorShape("ab"))
show(lambda: tf.TensorShape([1, "a"]))
show(lambda: tf.TensorShape([1.5]))
show(lambda: tf.TensorShape([-1]))
show(lambda: tf.TensorShape([-2]))
show(lambda: tf.TensorShape([[1]]))
show(lambda: tf.TensorShape(tf.constant([1, 2])))
show(lambda: tf.TensorShape(np.array([1, 2])))
show(lambda: tf.TensorShape([tf.constant(3)]))
show(lambda: tf.TensorShape((np.int64(3), None)))
show(lambda: tf.TensorShape({1: 2}))
show(lambda: tf.TensorShape(s) is s)
show(lambda: list(reversed(s)))
show(lambda: 1 in s)
show(lambda: None in s)
show(lambda: s.dims[0])
show(lambda: s.dims[1])
show(lambda: str(s.dims[1]))
show(lambda: s.dims[0] + 1)
show(lambda: tf.compat.dimension_value(s[0]))
show(lambda: tf.compat.dimension_at_index(s, 1))
show(lambda: tf.compat.v1.Dimension(3))
show(lambda: tf.compat.v1.Dimension(None) + 3)
show(lambda: tf.compat.v1.Dimension(3) * 2)
show(lambda: tf.compat.v1.Dimension(3) == 3)
show(lambda: tf.compat.v1.Dimension(None) == 3)
show(lambda: tf.compat.v1.Dimension(-1))
show(lambda: tf.compat.v1.Dimension("a"))
show(lambda: tf.compat.v1.Dimension(3) // 2)
show(lambda: 7 % tf.compat.v1.Dimension(4))
show(lambda: 7 - tf.compat.v1.Dimension(4))
show(lambda: tf.compat.v1.Dimension(3) < 4)
show(lambda: int(tf.compat.v1.Dimension(3)))
show(lambda: tf.broadcast_static_shape(tf.TensorShape([1, 2]), tf.TensorShape([3, 1])))
show(lambda: tf.broadcast_static_shape(tf.TensorShape([2, 2]), tf.TensorShape([3, 1])))
show(lambda: tf.broadcast_dynamic_shape([1, 2], [3, 1]))
show(lambda: tf.broadcast_dynamic_shape([2, 2], [3, 1]))
show(lambda: "%s %r" % (s, s))
show(lambda: copy.deepcopy(s))
show(lambda: pickle.loads(pickle.dumps(s)))
show(lambda: s.foo)
with shown():
    s[0] = 1
