"""Tapes, custom gradients and what they refuse, part 2."""

import numpy as np
import tensorflow as tf
from calls import show

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
show(lambda: print(t.gradient(y, x)))
xi = tf.constant(3)
with tf.GradientTape() as t:
    t.watch(xi)
    y = xi * xi
show(lambda: print(t.gradient(y, xi)))
c = tf.constant(1 + 2j)
with tf.GradientTape() as t:
    t.watch(c)
    y = c * c
show(lambda: t.gradient(y, c))
with tf.GradientTape() as t:
    y = x * x
    with t.stop_recording():
        z = x * 3
    w = z * x
show(lambda: t.gradient(w, x))
with tf.GradientTape() as t:
    y = tf.stop_gradient(x) * x
show(lambda: t.gradient(y, x))
with tf.GradientTape() as t:
    y = tf.round(x)
show(lambda: t.gradient(y, x))
with tf.GradientTape() as t:
    y = tf.cast(x, tf.int32)
show(lambda: print(t.gradient(y, x)))
with tf.GradientTape() as t:
    y = tf.cast(tf.cast(x, tf.float64), tf.float32)
show(lambda: t.gradient(y, x))
with tf.GradientTape() as t:
    y = np.float32(x.numpy()) * 2
show(lambda: print(t.gradient(y, x)))
v = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as t:
    y = tf.gather(v, [0, 0, 2])
g = t.gradient(y, v)
show(lambda: g)
show(lambda: g.values)
show(lambda: g.indices)
show(lambda: g.dense_shape)
show(lambda: tf.convert_to_tensor(g))
show(lambda: print(g))
show(lambda: g.shape)
show(lambda: g.dtype)
show(lambda: g.name)
show(lambda: g.device)
show(lambda: g.op)
show(lambda: g + 1)
show(lambda: -g)
show(lambda: g * 2)
show(lambda: tf.reduce_sum(g))
show(lambda: np.array(g))
with tf.GradientTape() as t:
    y = v[1] * 2 + tf.reduce_sum(v[0:2])
show(lambda: t.gradient(y, v))
with tf.GradientTape() as t:
    y = tf.where(v > 1.0, v * 2, v * 3)
show(lambda: t.gradient(y, v))
with tf.GradientTape() as t:
    y = tf.linalg.norm(v * 0)
show(lambda: t.gradient(y, v))
with tf.GradientTape() as t:
    y = tf.sqrt(v - 1.0)
show(lambda: t.gradient(y, v))
with tf.GradientTape() as t:
    y = tf.maximum(v, 2.0)
show(lambda: t.gradient(y, v))
with tf.GradientTape() as t:
    y = tf.reduce_max(tf.stack([v, v]))
show(lambda: t.gradient(y, v))
with tf.GradientTape() as t:
    y = tf.sort(v)[0] + tf.math.top_k(v).values
show(lambda: t.gradient(y, v))
with tf.GradientTape() as t:
    v.assign_add([1.0, 1.0, 1.0])
    y = v * v
show(lambda: t.gradient(y, v))
with tf.GradientTape() as t:
    y = v.assign(v * 2)
show(lambda: print(t.gradient(y, v)))
with tf.GradientTape() as t:
    t.watch(v)
    y = tf.py_function(lambda a: a * a, [v], tf.float32)
show(lambda: t.gradient(y, v))
