"""Tapes, custom gradients and what they refuse, part 4."""

import numpy as np
import tensorflow as tf
from calls import show, shown

x = tf.Variable(3.0)
with tf.GradientTape() as t:
    y = x * x
with tf.GradientTape(persistent=True) as t:
    y = x * x
    z = y * y
with tf.GradientTape(watch_accessed_variables=False) as t:
    y = x * x
with tf.GradientTape() as t:
    y = tf.constant(2) * 3
xi = tf.constant(3)
with tf.GradientTape() as t:
    t.watch(xi)
    y = xi * xi
c = tf.constant(1 + 2j)
with tf.GradientTape() as t:
    t.watch(c)
    y = c * c
with tf.GradientTape() as t:
    y = x * x
    with t.stop_recording():
        z = x * 3
    w = z * x
with tf.GradientTape() as t:
    y = tf.stop_gradient(x) * x
with tf.GradientTape() as t:
    y = tf.round(x)
with tf.GradientTape() as t:
    y = tf.cast(x, tf.int32)
with tf.GradientTape() as t:
    y = tf.cast(tf.cast(x, tf.float64), tf.float32)
with tf.GradientTape() as t:
    y = np.float32(x.numpy()) * 2
v = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as t:
    y = tf.gather(v, [0, 0, 2])
with tf.GradientTape() as t:
    y = v[1] * 2 + tf.reduce_sum(v[0:2])
with tf.GradientTape() as t:
    y = tf.where(v > 1.0, v * 2, v * 3)
with tf.GradientTape() as t:
    y = tf.linalg.norm(v * 0)
with tf.GradientTape() as t:
    y = tf.sqrt(v - 1.0)
with tf.GradientTape() as t:
    y = tf.maximum(v, 2.0)
with tf.GradientTape() as t:
    y = tf.reduce_max(tf.stack([v, v]))
with tf.GradientTape() as t:
    y = tf.sort(v)[0] + tf.math.top_k(v).values
with tf.GradientTape() as t:
    v.assign_add([1.0, 1.0, 1.0])
    y = v * v
with tf.GradientTape() as t:
    y = v.assign(v * 2)
with tf.GradientTape() as t:
    t.watch(v)
    y = tf.py_function(lambda a: a * a, [v], tf.float32)
with tf.GradientTape() as t:
    y = tf.numpy_function(lambda a: a * a, [v], tf.float32)
with tf.GradientTape() as t:
    y = tf.raw_ops.Bucketize(input=v, boundaries=[1.0, 2.0])
with tf.GradientTape(persistent=True) as t2:
    with tf.GradientTape() as t1:
        y = x**3
    dy = t1.gradient(y, x)
A = tf.random.stateless_normal([3, 2], [1, 2])
with tf.GradientTape(persistent=True) as t:
    t.watch(A)
    y = A * A


@tf.custom_gradient
def f(x):
    def grad(d):
        return d * 10

    return x * x, grad


with tf.GradientTape() as t:
    y = f(x)


@tf.custom_gradient
def f2(x, y):
    def grad(d):
        return d

    return x * y, grad


with tf.GradientTape() as t:
    y = f2(x, x)


@tf.custom_gradient
def f6(x):
    def grad(d, variables=None):
        return d * x, [d for _ in variables]

    return x * v, grad


with tf.GradientTape() as t:
    y = f6(tf.constant(2.0))
with tf.GradientTape() as t:
    y = tf.grad_pass_through(tf.round)(x * 1.2)
with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
    y = x * x
with shown():
    with acc:
        with acc:
            pass


@tf.function
def gf(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.constant(0.0)
        for i in tf.range(3):
            y += x * tf.cast(i, tf.float32)
    return t.gradient(y, x)


show(lambda: gf(tf.constant(2.0)))


@tf.function
def gg(x):
    return tf.gradients(x * x, x)


show(lambda: gg(tf.constant(3.0)))
show(lambda: tf.RegisterGradient("MyGrad"))
show(lambda: tf.RegisterGradient(3))
show(lambda: tf.RegisterGradient("MyGrad")(3))
show(lambda: tf.no_gradient("Foo12"))
show(lambda: tf.no_gradient(3))
show(lambda: tf.UnconnectedGradients.NONE)
show(lambda: tf.UnconnectedGradients("zero"))
show(lambda: list(tf.UnconnectedGradients))
show(lambda: tf.AggregationMethod.ADD_N)
show(lambda: tf.AggregationMethod.DEFAULT)
