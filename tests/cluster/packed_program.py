"""A client of TensorFlow that gives functions packed tensors, one tensor for each of two workers: packed_program.py CLUSTER_JSON. weft's clients have no such tensors."""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import ops  # noqa: E402

W0, W1 = "/job:worker/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0"


def on(device, value):
    with tf.device(device):
        return tf.identity(tf.constant(value))


def read(handle):
    return tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)


# What is called: each takes a packed tensor ...
def both(x):
    with tf.device(W0):
        a = x + 1.0
    with tf.device(W1):
        b = x + 2.0
    return a, b


def other(x):
    with tf.device("/job:worker/task:1"):
        return x * 2.0


def plain(x):
    return x * 3.0


def mixed(x):
    y = x + 100.0
    with tf.device(W1):
        return y + x


five = tf.function(lambda x: x * 5.0)


def nested(x):
    with tf.device(W0):
        a = five(x)
    with tf.device(W1):
        b = five(x)
    return a + b


# ... or a packed handle of variables.
def reads(v):
    with tf.device(W0):
        a = read(v)
    with tf.device(W1):
        return a, read(v) + a


def read_anywhere(v):
    return read(v)


def read_for_both(v):
    r = read(v)
    with tf.device(W0):
        a = r + 0.25
    with tf.device(W1):
        return a, r + 0.5


def assign_anywhere(v):
    tf.raw_ops.AssignAddVariableOp(resource=v, value=tf.constant(1.0))
    return tf.constant(0.0)


def assign_each(v):
    for i, device in enumerate((W0, W1)):
        with tf.device(device):
            tf.raw_ops.AssignAddVariableOp(resource=v, value=tf.constant(float(i + 1)))
    return tf.constant(0.0)


def assign_then_read(v):
    tf.raw_ops.AssignAddVariableOp(resource=v, value=tf.constant(1.0))
    r = read(v)
    with tf.device(W0):
        a = r + 0.0
    with tf.device(W1):
        return a, r + 0.0


def assign_and_return(v):
    tf.raw_ops.AssignAddVariableOp(resource=v, value=tf.constant(1.0))
    return read(v)


def assign_what_is_elsewhere(v):
    with tf.device(W1):
        x = tf.constant(100.0) + read(v)
    tf.raw_ops.AssignAddVariableOp(resource=v, value=x)
    return x


def assign_and_read_elsewhere(v):
    tf.raw_ops.AssignAddVariableOp(resource=v, value=tf.constant(1.0))
    with tf.device(W1):
        return read(v)


def twice_the_value(v):
    r = read(v) * 2.0
    with tf.device(W1):
        return r + 0.5


def same_handle(v):
    same = tf.identity(v)
    with tf.device(W1):
        b = read(same)
    with tf.device(W0):
        return b, read(same)


def loop(v):
    with tf.device(W1):
        return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + read(v)), [tf.constant(0), tf.constant(0.0)])[
            1
        ]


def branch(v):
    with tf.device(W1):
        return tf.cond(read(v) < 0.0, lambda: read(v), lambda: -read(v))


inner = tf.function(read)


def nested_read(v):
    with tf.device(W0):
        a = inner(v)
    with tf.device(W1):
        return a, inner(v)


def called_twice(v):
    with tf.device(W0):
        return inner(v) + inner(v)


def main():
    tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(json.loads(sys.argv[1])))
    with tf.device(W0):
        first = tf.Variable(1.0)
    with tf.device(W1):
        second = tf.Variable(10.0)
    value = ops.pack_eager_tensors([on(W0, 1.0), on(W1, 10.0)])
    handle = ops.pack_eager_tensors([first.handle, second.handle])
    for given, bodies in (
        (value, (both, other, plain, mixed, nested)),
        (
            handle,
            (
                reads,
                read_anywhere,
                read_for_both,
                assign_anywhere,
                assign_each,
                assign_then_read,
                assign_and_return,
                assign_what_is_elsewhere,
                assign_and_read_elsewhere,
                twice_the_value,
                same_handle,
                loop,
                branch,
                nested_read,
                called_twice,
            ),
        ),
    ):
        for body in bodies:
            function = tf.function(body)
            for device in (W0, W1, W0):
                with tf.device(device):
                    results = tf.nest.flatten(function(given))
                values = [float(r) for r in results]
                print(
                    body.__name__,
                    "task",
                    device.split("task:")[1][0],
                    *values,
                    "variables",
                    float(first),
                    float(second),
                )
    print("end")


main()
