"""A client whose tensors are larger than what is sent in one message: large_program.py CLUSTER_JSON [refused]. `refused`: the workers take no chunks, and calls fail."""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
CLUSTER = json.loads(sys.argv[1])
W0, W1 = "/job:worker/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0"
HERE = "/job:localhost/replica:0/task:0/device:CPU:0"
LARGE = np.random.RandomState(0).uniform(size=[3 << 19]).astype(np.float32)  # 6 MB
TEXTS = np.array([b"x" * 100 + str(i).encode() for i in range(30000)])  # 3 MB of strings


def same(tensor, value):
    return np.array_equal(tensor.numpy(), value)


def eager():
    for name, value in (("floats", LARGE), ("halves", LARGE.astype(np.float16)), ("strings", TEXTS)):
        with tf.device(W0):
            there = tf.identity(tf.constant(value))  # the client sends it
        with tf.device(W1):
            further = tf.identity(there)  # one worker asks the other
        print(name, same(there, value), same(further, value))
    with tf.device(W0):
        v = tf.Variable(LARGE)
        v.assign_add(LARGE)
        parts = tf.split(v, 3)
    print(same(v, LARGE + LARGE), [same(p, q) for p, q in zip(parts, np.split(LARGE + LARGE, 3))])
    small = []
    for i in range(20):  # they come between the others
        with tf.device(W0):
            small.append(tf.constant(float(i)) + tf.reduce_sum(tf.constant(LARGE)) * 0.0)
    print([float(x) for x in small])


def functions():
    @tf.function
    def over_two(x):
        with tf.device(W0):
            a = x + 1.0
        with tf.device(W1):
            b = a * 2.0
        with tf.device(HERE):
            c = b - 1.0
        with tf.device(W0):
            return a, b, c, c + x

    a, b, c, d = over_two(tf.constant(LARGE))
    print(
        same(a, LARGE + 1), same(b, (LARGE + 1) * 2), same(c, (LARGE + 1) * 2 - 1), same(d, (LARGE + 1) * 2 - 1 + LARGE)
    )
    table = tf.function(lambda x: tf.reverse(x, [0]))
    with tf.device(W1):
        print(same(table(tf.constant(LARGE)), LARGE[::-1]))
    data = tf.data.Dataset.from_tensors(LARGE).repeat(2)
    print([same(x, LARGE) for x in data.map(lambda x: x)])


def sessions():
    with tf.Graph().as_default():
        with tf.device(W0):
            x = v1.placeholder(tf.float32, [None])
            a = x + 1.0
        with tf.device(W1):
            b = a * 2.0
        big = tf.constant(LARGE)  # the graph itself is large
        with v1.Session("grpc://" + CLUSTER["worker"][0]) as s:
            got = s.run([a, b, big], {x: LARGE})
            print([np.array_equal(g, w) for g, w in zip(got, (LARGE + 1, (LARGE + 1) * 2, LARGE))])
            call = s._make_callable_from_options(callable_options(x, b))
            print(np.array_equal(call(LARGE)[0], (LARGE + 1) * 2))
            print(s.run(tf.reduce_sum(b) * 0.0, {x: LARGE}))


def callable_options(feed, fetch):
    from tensorflow.core.protobuf import config_pb2

    return config_pb2.CallableOptions(feed=[feed.name], fetch=[fetch.name])


def failed(call):
    try:
        call()
        return "no error"
    except tf.errors.OpError as e:
        return type(e).__name__, "task:0" in str(e), "WEFT_CLUSTER_MAX_SEND_MB" in str(e)


def refused():
    """TensorFlow's workers: what weft's client sends is refused here, alone."""
    with tf.device(W0):
        print(failed(lambda: tf.identity(tf.constant(LARGE)).numpy()))
        print(float(tf.constant(1.0) + 1.0))
        print(
            same(tf.tile(tf.constant(LARGE[:1000]), [1000]), np.tile(LARGE[:1000], 1000))
        )  # what comes from them may be larger
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None])
        with v1.Session("grpc://" + CLUSTER["worker"][0]) as s:
            print(failed(lambda: s.run(x + 1.0, {x: LARGE}))[0])
            print(s.run(x + 1.0, {x: [1.0]}).tolist())


tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(CLUSTER))
for f in (refused,) if "refused" in sys.argv else (eager, functions, sessions):
    print("==", f.__name__, flush=True)
    f()
print("end", flush=True)
