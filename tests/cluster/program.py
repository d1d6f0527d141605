"""What a client does on a cluster of two workers: program.py CLUSTER_JSON. Prints the same on TensorFlow and on weft, whatever the workers are."""

import json
import os
import sys
import threading

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

W0, W1 = "/job:worker/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0"
HERE = "/job:localhost/replica:0/task:0/device:CPU:0"


def section(f):
    print("==", f.__name__)
    f()


def short(device):
    return device.replace("/replica:0", "").replace("/device:", "/")


def connect():
    tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(json.loads(sys.argv[1])))
    print([short(d.name) for d in tf.config.list_logical_devices("CPU")])


def ops():
    with tf.device(W0):
        a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        b = tf.matmul(a, a)
    print(short(b.device), b.shape, b.dtype.name, b.numpy().tolist())
    c = b + 1.0  # an op here reads what is there
    print(short(c.device), c.numpy().tolist())
    with tf.device(W1):
        d = tf.reduce_sum(b)  # from one worker to the other
        parts = tf.split(tf.range(6), 3)
    print(short(d.device), float(d), [p.numpy().tolist() for p in parts])


def chain():
    with tf.device(W0):
        x = tf.zeros([])
        for _ in range(100):
            x = x + 1.0
    print(float(x))


def copies():
    values = [
        np.float32([1.5, -2]), np.float64(3.25), np.int8([1, -1]), np.uint16([65535]), np.int64([2**60]), np.bool_([True, False]),
        np.complex64([1 + 2j]), np.zeros([0, 3], np.float32), np.array([b"text", b"", b"x" * 300], object), np.float16([0.5]),
    ]  # fmt: skip
    for v in values:
        with tf.device(W0):
            there = tf.identity(tf.constant(v))
        with tf.device(W1):
            further = tf.identity(there)
        with tf.device(HERE):
            back = tf.identity(further)
        print(there.dtype.name, there.shape, back.dtype.name, np.array_equal(back.numpy(), v))
    large = np.arange(16 << 20, dtype=np.float32)  # 64 MB
    with tf.device(W0):
        total = tf.reduce_max(tf.constant(large))
        back = tf.identity(large)
    print(float(total), np.array_equal(back.numpy(), large))


def variables():
    with tf.device(W0):
        v = tf.Variable([1.0, 2.0])
        v.assign_add([10.0, 20.0])
        w = v * 2.0
    print(short(v.device), v.numpy().tolist(), w.numpy().tolist())
    v.assign([5.0, 6.0])
    print((v + 1.0).numpy().tolist(), v.shape, v.dtype.name)


def functions():
    @tf.function
    def inner(x):
        return x * 3.0

    @tf.function
    def f(x, n):
        for _ in tf.range(n):
            x = inner(x)
        return x, tf.shape(x)

    with tf.device(W0):
        y, shape = f(tf.constant([1.0, 2.0]), tf.constant(3))
    print(short(y.device), y.numpy().tolist(), shape.numpy().tolist())
    with tf.device(W1):
        y, _ = f(tf.constant([[1.0]]), tf.constant(2))
    print(short(y.device), y.numpy().tolist())
    with tf.device(W0):
        v = tf.Variable(2.0)

        @tf.function
        def step(x):
            v.assign_add(x)
            return v * 10.0

        print([float(step(tf.constant(1.0))) for _ in range(3)], float(v))


def training():
    with tf.device(W0):
        w = tf.Variable([[0.5], [-0.5]])
        x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        y = tf.constant([[1.0], [2.0], [3.0]])
        losses = []
        for _ in range(5):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.matmul(x, w) - y) ** 2)
            w.assign_sub(0.01 * tape.gradient(loss, w))
            losses.append(round(float(loss), 5))
    print(losses, [[round(float(x), 5) for x in row] for row in w.numpy()])


def errors():
    calls = (
        ("matmul", lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3])), ""),
        ("gather", lambda: tf.raw_ops.Gather(params=[1, 2], indices=[5]), "indices[0] = 5 is not in [0, 2)"),
        ("number", lambda: tf.strings.to_number(tf.constant("abc")), "StringToNumberOp could not correctly convert string: abc"),
        ("nothing", lambda: tf.raw_ops.ReadVariableOp(resource=tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name="never"), dtype=tf.float32), ""),
    )  # fmt: skip
    with tf.device(W0):
        for name, call, text in calls:
            try:
                call().numpy()
                print(name, "no error")
            except tf.errors.OpError as e:
                print(name, type(e).__name__, text in str(e))
            print(float(tf.constant(1.0) + 1.0))  # the worker goes on


def threads():
    results = [None] * 8

    def work(i):
        with tf.device(W0 if i % 2 else W1):
            x = tf.constant(float(i))
            for _ in range(20):
                x = x + 1.0
            results[i] = float(x)

    all_threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join()
    print(results)


for f in (connect, ops, chain, copies, variables, functions, training, errors, threads):
    section(f)
print("end", flush=True)
