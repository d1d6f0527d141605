"""Signatures of functions as `inspect` reads them, and a function as the gradient of tf.custom_gradient."""

import functools
import inspect

import tensorflow as tf


class Module(tf.Module):
    @tf.function
    def method(self, x, scale=2.0):
        return x * scale

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def signed(self, x):
        return x


module = Module()
cases = {
    "lambda": tf.function(lambda a, b=1: a),
    "keywords": tf.function(lambda a, *, b, c=3, **rest: a),
    "method": module.method,
    "unbound": Module.method,
    "signed": module.signed,
    "decorated": tf.function(functools.wraps(len)(lambda *args: args[0])),
}
for name, function in cases.items():
    for ask in (inspect.signature, inspect.getfullargspec):
        try:
            print(name, ask(function))
        except (TypeError, ValueError) as e:
            print(name, type(e).__name__)

v = tf.Variable(2.0)


@tf.custom_gradient
def scaled(x):
    @tf.function
    def grad(dy, variables=None):
        return dy * 10.0, [dy * 5.0 for _ in variables]

    return x * v, grad


def gradients(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x)
    return tape.gradient(y, [x, v])


x = tf.constant(3.0)
print([g.numpy() for g in gradients(x)], [g.numpy() for g in tf.function(gradients)(x)])


@tf.custom_gradient
def refused(x):
    return x * v, tf.function(lambda dy: dy)


try:
    refused(x)
except TypeError as e:
    print(str(e).partition(":")[0])
