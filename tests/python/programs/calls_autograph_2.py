"""Control flow, part 2."""

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


show(lambda: f29(tf.constant(True)))


@tf.function
def f30(x):
    while x:
        x = "a"


@tf.function
def f38(x):
    yield x


show(lambda: f38(1))


@tf.function
async def f39(x):
    return x


show(lambda: f39(1))


@tf.autograph.experimental.do_not_convert
def nc(x):
    return x if x > 0 else -x


show(lambda: nc(tf.constant(1)))
show(lambda: tf.autograph.to_graph(lambda x: x)(1))


def tc(x):
    if x > 0:
        return x
    return -x


show(lambda: tf.autograph.to_graph(tc)(tf.constant(-1)))
show(lambda: print(tf.autograph.to_code(tc)[:40]))
show(lambda: tf.autograph.to_code(3))
show(lambda: tf.autograph.set_verbosity(0))
show(lambda: tf.autograph.trace("x"))


@tf.function
def f41(n):
    a, b = 0, 1
    for _ in tf.range(n):
        a, b = b, a + b
    return a


show(lambda: f41(tf.constant(10)))


@tf.function
def f42(x):
    s = tf.constant(0)
    for r in tf.ragged.constant([[1, 2], [3]]):
        s += tf.reduce_sum(r)
    return s


show(lambda: f42(1))


@tf.function
def f43(x):
    for c in "ab":
        x = tf.strings.join([x, c])
    return x


show(lambda: f43("q"))


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


show(lambda: f46(1))


@tf.function
def f47(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x if x > 0 else x
    return t.gradient(y, x)


show(lambda: f47(tf.constant(3.0)))
show(lambda: f47(tf.constant(-3.0)))


@tf.function
def f48(x):
    match x:
        case 1:
            return "one"
        case _:
            return "other"


show(lambda: f48(1))
