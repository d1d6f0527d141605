"""Errors with functions: bad calls, recursion, leaking tensors, iteration and truth of symbolic tensors."""
import sys
import tensorflow as tf


def report(label, fn):
    try:
        print(label, "->", fn())
    except Exception as e:
        lines = [line.strip() for line in str(e).splitlines() if line.strip()]
        print(label, "->", type(e).__name__, "|", lines[-1] if lines else "")


@tf.function
def two(a, b):
    return a + b


report("missing", lambda: two(tf.constant(1)))
report("too many", lambda: two(1, 2, 3))
report("unknown keyword", lambda: two(1, c=2))
report("twice", lambda: two(1, 2, a=1))
report("mixed", lambda: two(tf.constant(1), tf.constant(1.0)))
report("shapes", lambda: two(tf.constant([1, 2]), tf.constant([1, 2, 3])))


@tf.function(autograph=False)
def truth(x):
    return 1 if x else 2


@tf.function(autograph=False)
def iterate(x):
    return [t for t in x]


@tf.function(autograph=False)
def numpy_in_graph(x):
    return x.numpy()


report("truth", lambda: truth(tf.constant(True)))
report("iterate", lambda: len(iterate(tf.constant([1, 2]))))
report("numpy", lambda: numpy_in_graph(tf.constant(1)))
leaked = []


@tf.function
def leak(x):
    leaked.append(x * 2)
    return x


@tf.function
def use_leaked(x):
    return leaked[0] + x


leak(tf.constant(1))
try:
    use_leaked(tf.constant(1))
except Exception as e:
    print(type(e).__name__)
try:
    leaked[0] + 1
except Exception as e:
    print(type(e).__name__)


@tf.function
def returns_object(x):
    return object()


try:
    returns_object(1)
except TypeError as e:
    print(str(e).split(";")[0])
report("hash in graph", tf.function(lambda x: hash(x), autograph=False).get_concrete_function)
try:
    tf.function(lambda x: 1 // x)(tf.constant(0))
except tf.errors.InvalidArgumentError as e:
    print(type(e).__name__, "division by zero" in e.message)


@tf.function
def recursive(n):
    return recursive(n - 1) if n > 0 else tf.constant(0)


print(recursive(5).numpy())
sys.setrecursionlimit(300)
try:
    recursive(tf.constant(5))
except RecursionError as e:
    print("RecursionError")
except Exception as e:
    print(type(e).__name__)
