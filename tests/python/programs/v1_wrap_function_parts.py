"""Parts of a wrapped function give their results in the structure that was asked for; deprecated classes; eager values compared inside a graph."""

import collections

import tensorflow as tf
from tensorflow.python.platform import tf_logging
from tensorflow.python.util import deprecation

v1 = tf.compat.v1
inputs, results = [], []


def squares(x, y):
    inputs.append(x)
    results.append(x * x)
    return results[0], y * y


wrapped = v1.wrap_function(squares, [tf.RaggedTensorSpec([None, None], tf.float32), tf.TensorSpec([], tf.float32)])
rows = tf.ragged.constant([[1.0, 2.0], [3.0]])
x, result = inputs[0], results[0]
for fetches in (
    result,
    [result],
    {"a": result.values},
    (result.values, {"b": result}),
    result.values,
    [result.values.name, result.values.op],
):
    part = wrapped.prune(x, fetches)
    print(part(rows.values, rows.row_splits))
    print(tf.nest.map_structure(lambda t: None if t is None else t.shape, part.structured_outputs), len(part.outputs))
print(wrapped.prune([x.values], result.values.name)(rows.values))

warnings = []
before, tf_logging.warning = tf_logging.warning, lambda text, *args: warnings.append(text % args)
Old = deprecation.deprecated("2016-07-04", "Use another.")(collections.namedtuple("Old", ["a", "b"]))


@deprecation.deprecated("2016-07-04", "Use another.")
class OldText(str):
    def __new__(cls, value):
        return str.__new__(cls, value + "!")


@deprecation.deprecated("2016-07-04", "Use another.")
class OldObject:
    def __init__(self, a):
        self.a = a


print(Old(1, 2), Old(3, 4), OldText("abc"), OldObject(5).a, OldObject(6).a)
print(len(warnings), [("is deprecated and will be removed after 2016-07-04" in w) for w in warnings])
tf_logging.warning = before


class Test(tf.test.TestCase):
    def test(self):
        value = tf.constant([1.0, 2.0])
        with tf.Graph().as_default(), self.session():
            self.assertAllClose(tf.constant([1.0, 2.0]), value)
            self.assertAllEqual(value, [1.0, 2.0])
        print("compared")


Test("test").test()
