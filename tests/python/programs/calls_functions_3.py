"""Calls, signatures and traces of functions, part 3."""

import numpy as np
import tensorflow as tf
from calls import show, shown, without_addresses

show(lambda: tf.function(lambda x, y: x, input_signature=[tf.TensorSpec([])])(1.0, 2.0))
show(lambda: tf.function(lambda x, y: x, input_signature=[tf.TensorSpec([])]))
show(lambda: tf.function(lambda x=1: x, input_signature=[])())
show(lambda: tf.function(lambda *x: x, input_signature=[tf.TensorSpec([])])(1.0))
show(lambda: tf.function(lambda x, **k: x, input_signature=[tf.TensorSpec([])])(1.0, z=2))
show(lambda: tf.function(lambda d: d["a"], input_signature=[{"a": tf.TensorSpec([])}])({"a": 1.0}))
show(lambda: tf.function(lambda d: d["a"], input_signature=[{"a": tf.TensorSpec([])}])({"b": 1.0}))
show(lambda: tf.function(lambda d: d["a"], input_signature=[{"a": tf.TensorSpec([])}])([1.0]))
show(lambda: tf.function(lambda d: d[0], input_signature=[[tf.TensorSpec([])]])((1.0,)))
show(lambda: tf.function(lambda d: d[0], input_signature=[[tf.TensorSpec([])]])([1.0, 2.0]))
n = []


@tf.function
def t(x):
    n.append(1)
    return x


for a in [
    1,
    1,
    2,
    1.0,
    True,
    "a",
    b"a",
    None,
    (1, 2),
    [1, 2],
    [1, 2],
    {"a": 1},
    tf.constant(1),
    tf.constant(2),
    tf.constant([1]),
    tf.constant([1, 2]),
    np.array([1, 2]),
    np.array([3, 4]),
    np.array([1.0]),
    np.float32(1),
    np.float32(2),
    np.int64(3),
    1j,
    tf.float32,
    tf.float32,
    tf.TensorShape([1]),
    slice(1, 2),
    range(2),
    len,
]:
    try:
        t(a)
        print(type(a).__name__, len(n))
    except Exception as e:
        print(type(a).__name__, type(e).__name__, without_addresses(str(e)))
show(lambda: t(object()))


class C:
    pass


c = C()
with shown():
    t(c)
    t(c)
    print(len(n))
show(lambda: t({1, 2}))
show(lambda: t(frozenset([1])))
show(lambda: t(bytearray(b"a")))
show(lambda: t(iter([1])))
show(lambda: t((i for i in range(2))))
show(lambda: n.clear())


@tf.function(reduce_retracing=True)
def r(x):
    n.append(x.shape if hasattr(x, "shape") else x)
    return x


for a in [tf.zeros([1]), tf.zeros([2]), tf.zeros([3]), tf.zeros([3, 1]), tf.zeros([3, 2]), tf.zeros([4, 2]), 1, 2, 3]:
    r(a)
show(lambda: n)
show(lambda: n.clear())


@tf.function(experimental_relax_shapes=True)
def r2(x):
    n.append(x["a"].shape)
    return x["a"]


for i in range(1, 5):
    r2({"a": tf.zeros([i, 2])})
show(lambda: n)


@tf.function
def bad(x):
    return object()


show(lambda: bad(1))
