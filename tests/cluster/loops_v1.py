"""Writes loops and branches of version 1 over two tasks, for TensorFlow: loops_v1.py FILE. n and x are fed; each Identity at the end is a result."""

import pathlib
import sys

import tensorflow as tf

v1 = tf.compat.v1
v1.disable_v2_behavior()
W0, W1 = "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"
with tf.Graph().as_default() as g:
    n = v1.placeholder(tf.int32, [], name="n")
    with tf.device(W0):
        x = v1.placeholder(tf.float32, [2], name="x")
        start = tf.constant(0)

    def body(i, t):
        with tf.device(W1):
            u = t * 2.0
        with tf.device(W0):
            w = u + tf.cast(i, tf.float32)
        with tf.device(W1):
            w = tf.identity(w) + 1.0
        return i + 1, w

    with tf.device(W0):
        _, y = tf.while_loop(lambda i, t: i < n, body, [start, x])
        tf.identity(y, name="simple")

    # the condition elsewhere
    def cond2(i, t):
        with tf.device(W1):
            return tf.reduce_sum(t) < 100.0

    def body2(i, t):
        with tf.device(W0):
            return i + 1, t * 3.0

    with tf.device(W0):
        k, z = tf.while_loop(cond2, body2, [start, x], parallel_iterations=1)
        tf.identity(k, name="count")
        tf.identity(z, name="grown")

    # nested
    def inner_body(j, s):
        with tf.device(W1):
            s = s + 1.0
        with tf.device(W0):
            return j + 1, s * 1.0

    def outer_body(i, t):
        with tf.device(W0):
            _, t = tf.while_loop(lambda j, s: j < i, inner_body, [start, t])
        with tf.device(W1):
            return i + 1, t * 2.0

    with tf.device(W0):
        _, q = tf.while_loop(lambda i, t: i < n, outer_body, [start, x])
        tf.identity(q, name="nested")

    # branch in a loop
    def branch_body(i, t):
        def yes():
            with tf.device(W1):
                return t * 2.0

        def no():
            with tf.device(W0):
                return t - 1.0

        with tf.device(W0):
            t = tf.cond(tf.equal(i % 2, 0), yes, no)
        return i + 1, t

    with tf.device(W0):
        _, b = tf.while_loop(lambda i, t: i < n, branch_body, [start, x])
        tf.identity(b, name="branched")

    # branch alone
    def yes():
        with tf.device(W1):
            return x * 10.0

    def no():
        with tf.device(W0):
            return -x

    with tf.device(W0):
        tf.identity(tf.cond(n > 3, yes, no), name="branch")
    # a loop elsewhere alone and arrays
    with tf.device(W1):
        ta = tf.TensorArray(tf.float32, 4)
        _, ta = tf.while_loop(
            lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, tf.reduce_sum(x) * tf.cast(i, tf.float32))), [0, ta]
        )
        s = ta.stack()
    with tf.device(W0):
        tf.identity(s, name="stacked")
    pathlib.Path(sys.argv[1]).write_bytes(g.as_graph_def().SerializeToString())
