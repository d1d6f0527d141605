"""Functions with an implementation for each kind of device, as tensorflow-probability's samplers have: which one runs, and what a function that must be compiled sees."""

import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import control_flow_util


def with_backend(function, name, device=None):
    attributes = {"api_implements": name}
    if device:
        attributes["api_preferred_device"] = device
    return tf.function(function, autograph=False, experimental_attributes=attributes)


def general(x, n):
    return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + x), [0, tf.zeros_like(x)])[1], tf.constant(1)


def of_cpu(x, n):
    return x * tf.cast(n, x.dtype), tf.constant(2)


def of_gpu(x, n):
    return x * 0.0, tf.constant(3)


count = 0


def choose(x, n, device="CPU", other=of_cpu):
    global count
    count += 1
    result = with_backend(general, f"times_{count}")(x=x, n=n)
    added = with_backend(other, f"times_{count}", device).get_concrete_function(x=x, n=n)
    added.add_to_graph()
    added.add_gradient_functions_to_graph()
    return result


x = tf.constant([1.0, 2.0])
print("chosen", [v.numpy().tolist() for v in tf.function(choose)(x, tf.constant(3))])
print("kept", [v.numpy().tolist() for v in tf.function(lambda x, n: choose(x, n, "GPU", of_gpu))(x, tf.constant(3))])


@tf.function
def outer(x, n):
    def body(i, total):
        value, which = inner(x, n)
        return i + 1, total + tf.cast(which, tf.float32) * tf.reduce_sum(value)

    return tf.while_loop(lambda i, _: i < 3, body, [0, 0.0])[1]


inner = tf.function(choose)
print("in a loop", outer(x, tf.constant(2)).numpy())
with tf.Graph().as_default():
    given = tf.compat.v1.placeholder(tf.float32, [2])
    result = tf.function(choose)(given, tf.constant(4))
    with tf.compat.v1.Session() as session:
        print("session", [v.tolist() for v in session.run(result, {given: [1.0, 3.0]})])


def seen(x):
    print("compiled", control_flow_util.GraphOrParentsInXlaContext(ops.get_default_graph()))

    def body(i, y):
        print("  loop", control_flow_util.GraphOrParentsInXlaContext(ops.get_default_graph()))
        return i + 1, y * 2.0

    return tf.while_loop(lambda i, _: i < 2, body, [0, x])[1]


print(tf.function(seen)(x).numpy())
print(tf.function(seen, jit_compile=True)(x).numpy())
print("outside", control_flow_util.GraphOrParentsInXlaContext(tf.Graph()))
