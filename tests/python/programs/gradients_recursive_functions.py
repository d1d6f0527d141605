"""Functions that call themselves, and their gradients."""
import tensorflow as tf


def number(t):
    return None if t is None else t.numpy().tolist()


# Python decides how deep: a trace of its own for each depth.
@tf.function
def power(x, n):
    if n == 0:
        return tf.ones_like(x)
    return x * power(x, n - 1)


x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = power(x, 5)
print(number(y), number(tape.gradient(y, x)))
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = power(x, 3)
    first = inner.gradient(y, x)
print(number(first), number(outer.gradient(first, x)))


@tf.function
def with_tape(x, n):
    if n == 0:
        return x * x
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = with_tape(x, n - 1)
    return y + tape.gradient(y, x)


print(number(with_tape(x, 2)))


@tf.function
def even(x, n):
    return x if n == 0 else odd(x * 2.0, n - 1)


@tf.function
def odd(x, n):
    return -x if n == 0 else even(x * 3.0, n - 1)


with tf.GradientTape() as tape:
    tape.watch(x)
    y = even(x, 5)
print(number(y), number(tape.gradient(y, x)))

v = tf.Variable([3.0, 4.0])


@tf.function
def polynomial(x, degree):
    if degree == 0:
        return v
    return v + x * polynomial(x, degree - 1)


with tf.GradientTape() as tape:
    tape.watch(x)
    y = polynomial(x, 3)
print(number(y), [number(g) for g in tape.gradient(y, [x, v])])


class Tree(tf.Module):
    def __init__(self, depth):
        super().__init__()
        self.weight = tf.Variable(float(depth))
        self.children = [Tree(depth - 1), Tree(depth - 1)] if depth > 1 else []

    @tf.function
    def __call__(self, x):
        for child in self.children:
            x = child(x)
        return x * self.weight


tree = Tree(3)
with tf.GradientTape() as tape:
    y = tree(x)
print(number(y), [number(g) for g in tape.gradient(y, tree.trainable_variables)])


# Without an end, and where a tensor would have to decide.
@tf.function
def endless(x):
    return endless(x) + 1.0


@tf.function
def by_tensor(x, n):
    if n <= 0:
        return x
    return by_tensor(x * 2.0, n - 1)


@tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
def signed(x):
    return signed(x) * 2.0


@tf.function
def one(x):
    return two(x)


@tf.function
def two(x):
    return one(x)


@tf.custom_gradient
def endless_custom(x):
    return endless_custom(x), lambda dy: dy


for name, call in (
    ("endless", lambda: endless(tf.constant(1.0))),
    ("by tensor", lambda: by_tensor(tf.constant(1.0), tf.constant(2))),
    ("signed", lambda: signed(tf.constant(1.0))),
    ("mutual", lambda: one(tf.constant(1.0))),
    ("custom", lambda: endless_custom(tf.constant(1.0))),
    ("map", lambda: tf.data.Dataset.range(2).map(lambda i: endless(i))),
):
    try:
        print(name, call())
    except Exception as error:
        print(name, type(error).__name__)
