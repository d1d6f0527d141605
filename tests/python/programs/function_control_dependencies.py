"""Order of effects in functions: variables, prints, control_dependencies, group, several variables."""
import sys
import tensorflow as tf

a, b = tf.Variable(1.0), tf.Variable(10.0)


@tf.function
def swap():
    old = a.read_value()
    a.assign(b)
    b.assign(old)
    return a.read_value(), b.read_value()


print([t.numpy() for t in swap()], [t.numpy() for t in swap()])


@tf.function
def chain():
    a.assign(2.0)
    x = a * 3.0
    a.assign(5.0)
    y = a * 3.0
    return x, y


print([t.numpy() for t in chain()], a.numpy())


@tf.function
def printing(n):
    for i in tf.range(n):
        a.assign_add(1.0)
        tf.print("a is", a.read_value(), "at", i, output_stream=sys.stdout)


printing(tf.constant(3))


@tf.function
def explicit(x):
    with tf.control_dependencies([a.assign(x), b.assign(x * 2.0)]):
        total = tf.add_n([a.read_value(), b.read_value()])
    op = tf.group(a.assign_add(1.0), b.assign_add(1.0))
    with tf.control_dependencies([op]):
        return total, tf.identity(a), tf.identity(b)


print([t.numpy() for t in explicit(tf.constant(4.0))])


@tf.function
def unused_effects(x):
    a.assign(x)
    _ = tf.sin(x)
    b.assign_add(x)
    return None


print(unused_effects(tf.constant(7.0)), a.numpy(), b.numpy())


@tf.function
def conditional(flag):
    if flag:
        a.assign(100.0)
    else:
        b.assign(200.0)
    return a + b


print(conditional(tf.constant(True)).numpy(), conditional(tf.constant(False)).numpy())


@tf.function
def inner():
    a.assign_add(1.0)


@tf.function
def outer():
    a.assign(0.0)
    inner()
    first = a.read_value()
    inner()
    inner()
    return first, a.read_value()


print([t.numpy() for t in outer()])
table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)


@tf.function
def count(words):
    for w in words:
        table.insert(w, table.lookup(w) + 1)
    return table.size()


print(count(tf.constant(["x", "y", "x"])).numpy(), table.lookup(tf.constant(["x", "y", "z"])).numpy())
ta = []


@tf.function
def python_effects(x):
    ta.append("traced")
    return x


python_effects(1.0), python_effects(1.0), python_effects(tf.constant(1.0))
print(ta)


@tf.function
def random_twice():
    return tf.random.stateless_uniform([], [1, 2]), tf.random.stateless_uniform([], [1, 2])


x, y = random_twice()
print(bool(x == y))
