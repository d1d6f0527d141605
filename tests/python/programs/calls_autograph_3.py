"""Control flow, part 3."""

import tensorflow as tf
from calls import show


@tf.function
def f1(x):
    if x > 0:
        y = 1
    return y


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
def f12(x):
    with tf.name_scope("a"):
        y = x + 1
    return y


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
def f29(x):
    if x:
        y = tf.ones([2])
    else:
        y = tf.ones([3])
    return y, y.shape


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


@tf.function
def f44(x):
    for i in tf.constant(3):
        pass


@tf.function
def f45(x):
    for i in x:
        pass
    return i


@tf.function
def f46(x):
    i = tf.constant(0)
    while i < 3:
        y = tf.constant(5)
        i += 1
    return y


@tf.function
def f47(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x if x > 0 else x
    return t.gradient(y, x)


@tf.function
def f49(x):
    if (y := x + 1) > 0:
        return y
    return x


show(lambda: f49(tf.constant(1)))


@tf.function
def f50(*a, **k):
    return a, k


show(lambda: f50(1, tf.constant(2), z=3))
show(lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]))
show(lambda: tf.while_loop(lambda i: i < 3, lambda i: (i + 1, 2), [0]))
show(lambda: tf.while_loop(lambda i: i < 3, lambda i: "a", [0]))
show(lambda: tf.while_loop(3, lambda i: i, [0]))
show(lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, []))
show(lambda: tf.cond(True, lambda: 1, lambda: 2))
show(lambda: tf.cond(tf.constant(True), lambda: 1, lambda: "a"))
show(lambda: tf.cond(tf.constant([True]), lambda: 1, lambda: 2))
show(lambda: tf.cond(1, lambda: 1, lambda: 2))
show(lambda: tf.cond(True, 1, 2))
show(lambda: tf.cond(tf.constant(True), lambda: None, lambda: 1))
show(lambda: tf.case([(tf.constant(True), lambda: 1)], default=lambda: 2))
show(lambda: tf.case([(tf.constant(False), lambda: 1)]))
show(lambda: tf.case([(tf.constant(True), lambda: 1), (tf.constant(True), lambda: 2)], exclusive=True))
