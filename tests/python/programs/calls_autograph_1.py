"""Control flow, part 1."""

import tensorflow as tf
from calls import show, shown


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


show(lambda: f4(tf.constant(1.0)))


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


show(lambda: f6(tf.constant([1])))


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


show(lambda: f8(tf.constant(3)))


@tf.function
def f9(n):
    s = 0
    for i in range(n):
        s += i
    return s


show(lambda: f9(3))
show(lambda: f9(tf.constant(3)))


@tf.function
def f11(x):
    try:
        return x[10]
    except Exception as e:
        return -1


show(lambda: f11(tf.constant([1])))


@tf.function
def f12(x):
    with tf.name_scope("a"):
        y = x + 1
    return y


show(lambda: f12(1))


@tf.function
def f13(x):
    for a, b in tf.data.Dataset.from_tensor_slices(([1, 2], [3, 4])):
        x += a * b
    return x


show(lambda: f13(tf.constant(0)))


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
def f15(x):
    return x if x > 0 else -x


show(lambda: f15(tf.constant(-2)))


@tf.function
def f16(x):
    return 0 < x < 5, x > 0 and x < 3, not x > 0, x > 0 or x < -3


show(lambda: f16(tf.constant(2)))


@tf.function
def f17(x):
    return [i * 2 for i in x], {i: i for i in range(2)}, [i for i in tf.unstack(x)]


@tf.function
def f18(x):
    return sum([x, x]), max(1, 2), min(x.shape[0], 5), abs(x), len(x), sorted([3, 1])


show(lambda: f18(tf.constant([1, 2])))


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
def f20(x):
    print("py", x)
    tf.print("tf", x, [x, {"a": x}], "s", 1.5, None, True)
    return x


with shown():
    f20(tf.constant(1))
    f20(tf.constant(2))


@tf.function
def f21(x):
    lam = lambda y: y if y > 0 else -y
    return lam(x)


show(lambda: f21(tf.constant(-3)))


@tf.function
def f22(x):
    def inner(y):
        if y > 0:
            return y
        return -y

    return inner(x)


show(lambda: f22(tf.constant(-3)))


@tf.function
def f25(d):
    d["a"] = d["a"] + 1
    return d


show(lambda: f25({"a": tf.constant(1)}))


@tf.function
def f26(x):
    global gg
    gg = 5
    return x


show(lambda: f26(1))
show(lambda: gg)


@tf.function
def f27(x):
    for i in tf.range(3):
        if i == 1:
            break
        x += i
    else:
        x += 100
    return x


show(lambda: f27(tf.constant(0)))
