"""Control flow, part 4."""

import numpy as np
import tensorflow as tf
from calls import show


@tf.function
def f4(x):
    while x < 10:
        x = x * 2.5
    return x


@tf.function
def f5(x):
    for i in tf.range(3):
        x = tf.concat([x, x], 0)
    return x


@tf.function
def f6(x):
    for i in tf.range(3):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
        x = tf.concat([x, x], 0)
    return x


@tf.function
def f7(n):
    l = []
    for i in tf.range(n):
        l.append(i)
    return l


@tf.function
def f8(n):
    for i in tf.range(n):
        z = i
    return z


@tf.function
def f9(n):
    s = 0
    for i in range(n):
        s += i
    return s


@tf.function
def f13(x):
    for a, b in tf.data.Dataset.from_tensor_slices(([1, 2], [3, 4])):
        x += a * b
    return x


@tf.function
def f14(x):
    i = 0
    while True:
        i += 1
        if i > x:
            break
        if i % 2 == 0:
            continue
    return i


@tf.function
def f17(x):
    return [i * 2 for i in x], {i: i for i in range(2)}, [i for i in tf.unstack(x)]


@tf.function
def f19(x):
    for i, v in enumerate(x):
        tf.print(i, v)
    for a, b in zip(x, x):
        tf.print(a + b)
    for j in map(lambda q: q * 2, [1, 2]):
        tf.print(j)
    return tf.reduce_sum(x)


@tf.function
def f27(x):
    for i in tf.range(3):
        if i == 1:
            break
        x += i
    else:
        x += 100
    return x


@tf.function
def f30(x):
    while x:
        x = "a"


@tf.function
def f41(n):
    a, b = 0, 1
    for _ in tf.range(n):
        a, b = b, a + b
    return a


@tf.function
def f43(x):
    for c in "ab":
        x = tf.strings.join([x, c])
    return x


show(lambda: tf.switch_case(1, [lambda: 1, lambda: 2]))
show(lambda: tf.switch_case(5, {0: lambda: 1}, default=lambda: 9))
show(lambda: tf.switch_case(1, {0: lambda: 1, 5: lambda: 2}))
show(lambda: tf.switch_case("a", [lambda: 1]))
show(lambda: tf.map_fn(lambda x: x * 2, [1, 2]))
show(lambda: tf.map_fn(lambda x: (x[0], x[1]), ([1, 2], [3.0, 4.0])))
show(lambda: tf.map_fn(lambda x: "a", [1, 2], fn_output_signature=tf.string))
show(lambda: tf.map_fn(lambda x: x * 1.5, [1, 2]))
show(lambda: tf.map_fn(lambda x: "a", [1, 2]))
show(lambda: tf.map_fn(lambda x: x, 3))
show(lambda: tf.map_fn(3, [1]))
show(lambda: tf.scan(lambda a, x: a + x, [1, 2, 3]))
show(lambda: tf.foldl(lambda a, x: a + x, [1, 2, 3]))
show(lambda: tf.foldr(lambda a, x: a - x, [1, 2, 3]))
show(lambda: tf.scan(lambda a, x: a + x, [1, 2, 3], initializer=10, reverse=True))
show(lambda: tf.scan(lambda a, x: "a", [1, 2]))
show(lambda: tf.scan(3, [1]))
show(lambda: tf.vectorized_map(lambda x: x * 2, tf.constant([1, 2])))
show(lambda: tf.py_function(lambda: 1 / 0, [], tf.int32) if False else None)
show(lambda: tf.print("a", "b", sep="-", end="!\n"))
show(lambda: tf.print([1, 2], tf.constant([[1.5, 2]]), {"b": 1, "a": (2,)}))
show(lambda: tf.print(tf.range(20), summarize=2))
show(lambda: tf.print(tf.range(20), summarize=-1))
show(lambda: tf.print(tf.constant("s"), tf.constant(["s"]), "s"))
show(lambda: tf.print(tf.constant(True), 1e10, 1e-10, np.float32(0.1), tf.constant(0.1, tf.float64)))
show(lambda: tf.print(tf.Variable(1)))
show(lambda: tf.print(tf.ragged.constant([[1], [2, 3]])))
show(lambda: tf.print(tf.sparse.from_dense([0, 1])))
show(lambda: tf.print(None))
show(lambda: tf.print("x", output_stream="foo"))
show(lambda: tf.print("x", foo=1))
