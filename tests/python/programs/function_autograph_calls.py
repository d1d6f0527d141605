"""AutoGraph follows calls: helpers, lambdas, methods, recursion in Python, generators, do_not_convert, assert."""
import sys
import tensorflow as tf


def helper(x):
    if x > 0:
        return x * 10
    return x - 10


@tf.function
def calls(x):
    return helper(x) + helper(-x)


print(calls(tf.constant(3)).numpy(), calls(tf.constant(-4)).numpy())

f = tf.function(lambda x: x + 1 if x > 2 else x - 1)
print(f(tf.constant(5)).numpy(), f(tf.constant(0)).numpy())


class Machine:
    def __init__(self):
        self.bias = 100

    def branch(self, x):
        if x > self.bias:
            y = x - self.bias
        else:
            y = self.bias - x
        return y

    @tf.function
    def run(self, x):
        return self.branch(x) * 2


machine = Machine()
print(machine.run(tf.constant(130)).numpy(), machine.run(tf.constant(30)).numpy())


def fact(n):
    return 1 if n <= 1 else n * fact(n - 1)


@tf.function
def with_fact(x):
    return x * fact(5)


print(with_fact(tf.constant(2)).numpy())


@tf.function
def comprehension(x):
    parts = [x * i for i in range(3)]
    table = {k: x + k for k in (1, 2)}
    return tf.stack(parts), table[2], sum(parts), max(3, 4), len(parts), any([False, True])


print(comprehension(tf.constant(4)))


@tf.autograph.experimental.do_not_convert
def untouched(x):
    print("kind", type(x).__name__)
    return x * 2


@tf.function
def uses_untouched(x):
    return untouched(x)


print(uses_untouched(tf.constant(4)).numpy())


@tf.function(autograph=False)
def no_autograph(x):
    if x > 0:
        return x
    return -x


try:
    no_autograph(tf.constant(1))
except Exception as e:
    print(type(e).__name__, str(e).splitlines()[0])


@tf.function
def asserting(x):
    tf.debugging.assert_positive(x, message="x must be positive")
    return x


print(asserting(tf.constant(1)).numpy())
try:
    asserting(tf.constant(-1))
except tf.errors.InvalidArgumentError as e:
    print(type(e).__name__, "x must be positive" in str(e))


@tf.function
def prints(x):
    for i in tf.range(3):
        tf.print("i", i, "x", x * i, output_stream=sys.stdout)
    return x


prints(tf.constant([1, 2]))


def deep(x):
    def inner(y):
        nonlocal_total = y
        while nonlocal_total < 10:
            nonlocal_total += 3
        return nonlocal_total
    return inner(x) + inner(x + 1)


print(tf.function(deep)(tf.constant(0)).numpy(), deep(0))
converted = tf.autograph.to_graph(helper)
print(tf.function(converted)(tf.constant(1)).numpy())
code = tf.autograph.to_code(helper)
print("def tf__helper(x):" in code, "ag__.if_stmt" in code, "ag__.FunctionScope" in code)
