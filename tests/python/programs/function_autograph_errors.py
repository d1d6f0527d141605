"""Errors that autograph reports in user code: the last line of the message and its kind."""
import tensorflow as tf


def report(fn, *args):
    try:
        print(fn.__name__, fn(*args))
    except Exception as e:
        lines = [line.strip() for line in str(e).splitlines() if line.strip()]
        print(fn.__name__, type(e).__name__, "|", lines[0], "|", lines[-1])


@tf.function
def shape_changes(n):
    x = tf.zeros([1])
    for i in tf.range(n):
        x = tf.concat([x, x], 0)
    return x


@tf.function
def dtype_changes(n):
    x = 1
    for i in tf.range(n):
        x = x * 1.5
    return x


@tf.function
def none_in_loop(n):
    x = None
    for i in tf.range(n):
        x = i
    return x


@tf.function
def undefined_in_loop(n):
    for i in tf.range(n):
        last = i
    return last


@tf.function
def return_types(x):
    if x > 0:
        return x
    else:
        return "negative"


@tf.function
def return_shapes(x):
    if x > 0:
        return tf.zeros([2])
    else:
        return tf.zeros([3])


@tf.function
def iterate_unknown(x):
    a, b = x
    return a


@tf.function
def python_error(x):
    return undefined_name + x


@tf.function
def raises(x):
    raise RuntimeError("my own error")


@tf.function
def bad_op(x):
    return tf.matmul(x, tf.zeros([3, 3]))


@tf.function
def wrong_types(x):
    return x + tf.constant("a")


@tf.function
def return_in_loop(limit):
    total = 0
    for i in tf.range(100):
        total += i
        if total > limit:
            return total
    return -1


@tf.function
def asserting(x):
    assert x > 0, "x must be positive"
    return x


@tf.function
def list_mutation(n):
    out = []
    for i in tf.range(n):
        out.append(i)
    return out


report(shape_changes, tf.constant(2))
report(dtype_changes, tf.constant(2))
report(none_in_loop, tf.constant(2))
report(undefined_in_loop, tf.constant(2))
report(return_types, tf.constant(2))
report(return_shapes, tf.constant(2))
report(python_error, tf.constant(2))
report(raises, tf.constant(2))
report(bad_op, tf.zeros([2, 2]))
report(wrong_types, tf.constant(1.0))
report(return_in_loop, tf.constant(10))
report(asserting, tf.constant(10))
report(iterate_unknown, tf.constant([1, 2]))
try:
    list_mutation(tf.constant(3))
except Exception as e:
    print(type(e).__name__)
