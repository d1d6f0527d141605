"""tf.function: a first function, decorated and wrapped, functions in functions, gradients, eager twin."""
import tensorflow as tf


def a_regular_function(x, y, b):
    x = tf.matmul(x, y)
    return x + b


a_function_that_uses_a_graph = tf.function(a_regular_function)
x1 = tf.constant([[1.0, 2.0]])
y1 = tf.constant([[2.0], [3.0]])
b1 = tf.constant(4.0)
print(a_regular_function(x1, y1, b1).numpy(), a_function_that_uses_a_graph(x1, y1, b1).numpy())


def inner_function(x, y, b):
    return tf.matmul(x, y) + b


@tf.function
def outer_function(x):
    y = tf.constant([[2.0], [3.0]])
    b = tf.constant(4.0)
    return inner_function(x, y, b)


print(outer_function(tf.constant([[1.0, 2.0]])).numpy())


@tf.function
def add(a, b):
    return a + b


print(add(tf.ones([2, 2]), tf.ones([2, 2])))
v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    result = add(v, 1.0)
print(tape.gradient(result, v))


@tf.function
def dense_layer(x, w, b):
    return add(tf.matmul(x, w), b)


print(dense_layer(tf.ones([3, 2]), tf.ones([2, 2]), tf.ones([2])))


@tf.function
def several(x, *, scale=2.0, **rest):
    return {"scaled": x * scale, "parts": (x, [x + 1.0, None, 5]), "keys": sorted(rest)}


print(several(tf.constant(1.0)))
print(several(tf.constant(1.0), scale=3.0, extra=1, also=2))
print(several.__name__, type(several(tf.constant(0.0))["parts"]).__name__)


@tf.function
def nothing(x):
    print("tracing with", x)


print(nothing(1), nothing(1), nothing(2))


class Scaler:
    def __init__(self, k):
        self.k = k

    @tf.function
    def __call__(self, x):
        return x * self.k


print(Scaler(2.0)(tf.constant(3.0)).numpy(), Scaler(5.0)(tf.constant(3.0)).numpy())
print(tf.executing_eagerly(), tf.function(lambda: tf.executing_eagerly())(), tf.inside_function())
print(tf.function(lambda a, b=3: a * b)(tf.constant(2)).numpy())
