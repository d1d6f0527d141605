"""AutoGraph conditionals: if, elif, else, ternary, and/or/not, chained comparisons, undefined names, early return."""
import tensorflow as tf


@tf.function
def simple_relu(x):
    if tf.greater(x, 0):
        return x
    else:
        return 0.0


print(simple_relu(tf.constant(1.0)).numpy(), simple_relu(tf.constant(-1.0)).numpy())


@tf.function
def grade(score):
    if score >= 90:
        g = "A"
    elif score >= 75:
        g = "B"
    elif score >= 60:
        g = "C"
    else:
        g = "F"
    return g


print([grade(tf.constant(s)).numpy() for s in (95, 80, 60, 10)])
print(grade(95), grade.experimental_get_tracing_count())


@tf.function
def fizz(n):
    div3, div5 = n % 3 == 0, n % 5 == 0
    if div3 and div5:
        return "fizzbuzz"
    if div3 or n == 13:
        return "fizz"
    if not div5:
        return tf.strings.as_string(n)
    return "buzz"


print([fizz(tf.constant(i)).numpy().decode() for i in range(1, 16)])


@tf.function
def ternary(x):
    return (x * 2 if x > 0 else -x) + (1 if x > 5 else 0)


print([ternary(tf.constant(i)).numpy() for i in (-3, 3, 6)])


@tf.function
def between(x):
    return 0 < x < 10, not x > 3, (x > 1) and (x < 5) or (x == 9)


print([[t.numpy() for t in between(tf.constant(i))] for i in (0, 4, 9, 11)])


@tf.function
def nested(x, y):
    total = 0
    if x > 0:
        total += 1
        if y > 0:
            total += 10
        else:
            total -= 10
    return total


print([nested(tf.constant(a), tf.constant(b)).numpy() for a in (-1, 1) for b in (-1, 1)])


@tf.function
def structured(p):
    d = {"a": 0, "b": (1.0, 2.0)}
    if p:
        d = {"a": 5, "b": (10.0, 20.0)}
    return d


print(structured(tf.constant(True)), structured(tf.constant(False)))


def message(e):
    return type(e).__name__, [line.strip() for line in str(e).splitlines() if line.strip()][-1]


@tf.function
def undefined(x):
    if x > 0:
        y = x
    return y


@tf.function
def mismatch(x):
    if x > 0:
        y = 1
    else:
        y = "no"
    return y


@tf.function
def one_returns(x):
    if x > 0:
        return x


for bad in (undefined, mismatch, one_returns):
    try:
        print(bad(tf.constant(1)))
    except Exception as e:
        print(*message(e))
