"""What variables do and refuse, part 1."""

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


v = tf.Variable([1.0, 2.0], name="my_var")
show(lambda: v)
show(lambda: print(v))
show(lambda: str(v))
show(lambda: tf.Variable(1))
show(lambda: tf.Variable("abc"))
show(lambda: tf.Variable([[1, 2], [3, 4]], dtype=tf.int64, trainable=False))
show(lambda: tf.Variable(lambda: tf.zeros([2])))
show(lambda: tf.Variable(lambda: tf.zeros([2]), shape=[3]))
show(lambda: tf.Variable([1, 2], shape=[None]))
show(lambda: tf.Variable([1, 2], shape=tf.TensorShape(None)))
show(lambda: tf.Variable([1, 2], shape=[3]))
show(lambda: tf.Variable())
show(lambda: tf.Variable(None))
show(lambda: tf.Variable([[1], [2, 3]]))
show(lambda: tf.Variable(1, dtype="nope"))
show(lambda: tf.Variable(1.0, constraint=lambda x: x))
show(lambda: tf.Variable(1.0, constraint=3))
show(
    lambda: tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
)
show(lambda: tf.Variable(1.0, aggregation="sum"))
show(lambda: tf.Variable(1.0, validate_shape=False))
show(lambda: v.assign([3.0, 4.0]))
show(lambda: v.assign([3.0, 4.0, 5.0]))
show(lambda: v.assign(1))
show(lambda: v.assign("a"))
show(lambda: v.assign(["a", "b"]))
show(lambda: v.assign([1, 2]))
show(lambda: v.assign(tf.constant([1, 2])))
show(lambda: v.assign_add([1.0, 1.0]))
show(lambda: v.assign_sub([1.0, 1.0]))
show(lambda: v.assign_add([1.0, 1.0], read_value=False))
show(lambda: v.assign([1.0, 2.0], read_value=False))
show(lambda: v.assign([5.0, 6.0], name="foo", use_locking=True))
show(lambda: v + 1)
show(lambda: 1 + v)
show(lambda: v @ v)
show(lambda: v == v)
show(lambda: v != v)
show(lambda: hash(v))
show(lambda: v in [v])
show(lambda: {v: 1})
show(lambda: v.ref() == v.ref())
show(lambda: bool(v))
show(lambda: bool(tf.Variable(1)))
show(lambda: len(v))
show(lambda: len(tf.Variable(1)))
show(lambda: list(v))
show(lambda: iter(tf.Variable(1)))
show(lambda: int(tf.Variable(3)))
show(lambda: float(tf.Variable(3)))
show(lambda: v[0])
show(lambda: v[0].assign(9.0))
show(lambda: v[0:1].assign([9.0]))
with shown():
    v[0] = 1
show(lambda: v[:1].assign([1.0, 2.0]))
show(lambda: v[5])
show(lambda: v.numpy())
show(lambda: v.value())
show(lambda: v.read_value())
show(lambda: v.dtype)
show(lambda: v.shape)
show(lambda: v.name)
show(lambda: v.device)
show(lambda: v.trainable)
show(lambda: v.synchronization)
show(lambda: v.aggregation)
show(lambda: v.constraint)
show(lambda: v.initializer)
show(lambda: v.initial_value)
show(lambda: v.op)
show(lambda: v.graph)
show(lambda: v.handle.dtype)
show(lambda: v.handle.shape)
show(lambda: v.get_shape())
show(lambda: v.is_initialized())
show(lambda: v.experimental_ref())
show(lambda: v.foo)
show(lambda: v.eval())
show(lambda: v.load(1))
with shown():
    v.shape = 3
with shown():
    v.trainable = False
