"""Values that a graph's constants decide, as libraries ask for them."""
import tensorflow as tf
from tensorflow.python.framework import tensor_util


@tf.function
def f(x, drawn):
    rank, zero = tf.rank(x), tf.constant(0)
    place = tf.where(tf.constant(-2) < zero, rank - 2, tf.constant(-2))
    order = tf.concat([tf.range(1, place + 1), [zero], tf.range(place + 1, rank)], 0)
    for name, tensor in {
        "constant": zero, "less": zero < 1, "place": place, "order": order, "sizes": tf.shape(x) * 2, "argument": drawn + 1,
        "random": tf.random.uniform([]) + 1.0, "unknown size": tf.shape(drawn)[0] * 2, "text": tf.strings.join([tf.constant("a"), "b"]),
    }.items():  # fmt: skip
        value = tensor_util.try_evaluate_constant(tensor)
        print(name, value, type(value).__name__)
    print(tf.transpose(x, order).shape)
    return x


f.get_concrete_function(tf.TensorSpec([9, 10, 3]), tf.TensorSpec([None], tf.int32))


# What counts as a tensor and is none has no known value; anything else is its own.
class Like:
    is_tensor_like = True
    shape = (2,)


class Record(tf.experimental.ExtensionType):
    values: tf.Tensor


others = {
    "like": Like(),
    "variable": tf.Variable(1.0),
    "ragged": tf.ragged.constant([[1]]),
    "sparse": tf.sparse.from_dense([1]),
    "record": Record(tf.constant(1)),
    "list": [1],
    "int": 3,
}
for name, value in others.items():
    print(name, tf.is_tensor(value), type(tf.get_static_value(value)).__name__)


# The same where a function is traced inside a graph of version 1.
@tf.function
def g(x):
    rank = tf.rank(x)
    print("in a graph of version 1", tensor_util.try_evaluate_constant(tf.equal(rank - 1, tf.constant(2))))
    return x


with tf.Graph().as_default():
    g(tf.compat.v1.placeholder(tf.float32, [2, 3, 4]))
    print("outside of the function", tensor_util.try_evaluate_constant(tf.constant(2) + 3))
