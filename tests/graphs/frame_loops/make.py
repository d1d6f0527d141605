"""Writes graphs of version 1 with while loops and branches, and their gradients by tf.gradients (TensorFlow 2.21).

For each NAME: NAME.pb, a GraphDef without gradients, and NAME.txt with lines
  feed NODE DIM... : VALUE...      what is fed (float32)
  y NODE                           what is differentiated
  grad NODE : VALUE...             by what, and the gradient
"""
import os
import sys

import numpy as np
import tensorflow as tf

tf.compat.v1.disable_control_flow_v2()
v1 = tf.compat.v1
rng = np.random.default_rng(3)


def power(feed):
    x, w = feed("x", [3]), feed("w", [3])
    return v1.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.sin(y) * w + y), [tf.constant(0), x])[1]


def nested(feed):
    x, w = feed("x", [2, 2]), feed("w", [2, 2])

    def inner(y):
        return v1.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, tf.tanh(tf.matmul(z, w))), [tf.constant(0), y])[1]

    return v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, inner(y) + y * 0.5), [tf.constant(0), x])[1]


def branch(feed):
    # Inside one another; the second pair of sides shares nothing.
    x, w = feed("x", [3]), feed("w", [3])
    first = v1.cond(tf.reduce_sum(x) < 9.0, lambda: v1.cond(w[0] > 5.0, lambda: x, lambda: tf.sin(x) * w), lambda: x - w)
    return first * v1.cond(tf.reduce_sum(w) < 0.0, lambda: tf.exp(x), lambda: w * w)


def branches_inside(feed):
    x, w = feed("x", [3]), feed("w", [3])

    def step(i, y, z):
        # Two results, and another branch inside; each side is taken at times.
        y, z = v1.cond(tf.equal(i % 2, 0), lambda: (tf.sin(y) * w, z + y), lambda: (v1.cond(i > 2, lambda: y * y, lambda: y + w), z * w))
        return i + 1, y, z

    _, y, z = v1.while_loop(lambda i, y, z: i < 5, step, [tf.constant(0), x, w])
    return y * z


def rnn_lengths(feed):
    # Sequences of different lengths: states of those that ended are copied, inside a branch.
    x, k = feed("x", [2, 4, 3]), feed("k", [6, 3])
    lengths = tf.constant([4, 2])
    steps = tf.TensorArray(tf.float32, 4).unstack(tf.transpose(x, [1, 0, 2]))
    out = tf.TensorArray(tf.float32, 4)

    def body(t, state, out):
        new = tf.tanh(tf.matmul(tf.concat([steps.read(t), state], 1), k))
        new = v1.cond(t < tf.reduce_min(lengths), lambda: new, lambda: tf.where(tf.reshape(t >= lengths, [2, 1]) & tf.ones([2, 3], tf.bool), state, new))
        return t + 1, new, out.write(t, new)

    _, last, out = v1.while_loop(lambda t, s, o: t < 4, body, [tf.constant(0), tf.zeros([2, 3]), out])
    return out.stack() * last


def until(feed):
    # How often depends on the values; two results.
    x, w = feed("x", []), feed("w", [2])
    a, b = v1.while_loop(lambda a, b: tf.reduce_sum(tf.abs(b)) < 20.0, lambda a, b: (a * 1.5 + b[0], b * 2.0 + a), [x, w])
    return tf.stack([a, a * b[0], b[1]])


def rnn(feed):
    x, h, k = feed("x", [4, 2, 3]), feed("h", [2, 3]), feed("k", [3, 3])
    steps = tf.TensorArray(tf.float32, 4).unstack(x)
    out = tf.TensorArray(tf.float32, 4)

    def body(t, state, out):
        state = tf.tanh(tf.matmul(state, k) + steps.read(t))
        return t + 1, state, out.write(t, state)

    _, last, out = v1.while_loop(lambda t, s, o: t < 4, body, [tf.constant(0), h, out])
    return out.stack() * last


for make in (power, nested, until, rnn, branch, branches_inside, rnn_lengths):
    graph, feeds = tf.Graph(), {}

    def feed(name, shape):
        t = v1.placeholder(tf.float32, shape, name)
        feeds[t] = rng.uniform(0.2, 0.9, shape).astype(np.float32)
        return t

    with graph.as_default():
        y = tf.identity(make(feed), "y")
        text = graph.as_graph_def()
        grads = v1.gradients(y, list(feeds))
        with v1.Session() as session:
            values = session.run(grads, feeds)
    path = os.path.join(sys.argv[1], make.__name__)
    with open(path + ".pb", "wb") as f:
        f.write(text.SerializeToString())
    with open(path + ".txt", "w") as f:
        for t, value in feeds.items():
            print("feed", t.op.name, *t.shape.as_list(), ":", *(repr(float(v)) for v in value.ravel()), file=f)
        print("y y", file=f)
        for t, value in zip(feeds, values):
            print("grad", t.op.name, ":", *(repr(float(v)) for v in value.ravel()), file=f)
