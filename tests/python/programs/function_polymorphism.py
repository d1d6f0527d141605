"""One function, many traces: dtypes, shapes, Python values, structures."""
import collections
import tensorflow as tf


@tf.function
def double(a):
    print("Tracing with", a)
    return a + a


print(double(tf.constant(1)))
print()
print(double(tf.constant(1.1)))
print()
print(double(tf.constant("a")))
print()
print("This doesn't print 'Tracing with ...'")
print(double(tf.constant("b")))
print(double.pretty_printed_concrete_signatures())


@tf.function
def my_relu(x):
    return tf.maximum(0.0, x)


print(my_relu(tf.constant(5.5)))
print(my_relu([1, -1]))
print(my_relu(tf.constant([3.0, -3.0])))
print(my_relu.pretty_printed_concrete_signatures())


@tf.function
def shapes(x):
    print("trace", x.shape, x.dtype)
    return tf.shape(x)


for n in (1, 2, 3, 4):
    print(n, shapes(tf.zeros([n, 2])).numpy())
print(shapes.experimental_get_tracing_count())


@tf.function(reduce_retracing=True)
def relaxed(x):
    print("trace", x.shape)
    return tf.reduce_sum(x)


for n in (1, 2, 3, 4):
    print(relaxed(tf.ones([n])).numpy())
print(relaxed.experimental_get_tracing_count())

Point = collections.namedtuple("Point", ["x", "y"])


@tf.function
def structured(p):
    print("trace", tf.nest.map_structure(lambda t: t.shape if tf.is_tensor(t) else t, p))
    return tf.nest.map_structure(lambda t: t * 2, p)


print(structured(Point(tf.constant(1), tf.constant([2]))))
print(structured({"b": tf.constant(1.5), "a": (tf.constant(1), 7)}))
print(structured([tf.constant(1), 2]))
print(structured([tf.constant(5), 2]))
print(structured.experimental_get_tracing_count())
