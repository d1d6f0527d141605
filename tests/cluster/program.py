"""What a client does on a cluster of two workers: program.py CLUSTER_JSON. Prints the same on TensorFlow and on weft, whatever the workers are."""

import json
import os
import sys
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import copied_values  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.eager import context  # noqa: E402

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
    for name, dtype, v in copied_values.values():
        with tf.device(W0):
            there = tf.identity(copied_values.as_type(tf.constant(v), dtype))
        with tf.device(W1):
            further = tf.identity(there)
        with tf.device(HERE):
            back = tf.identity(further)
        same = [copied_values.same(x.numpy(), v) for x in (there, further, back)]
        print(name, there.dtype.name, there.shape, back.dtype.name, same)

    @tf.function
    def over_two(xs):
        with tf.device(W0):
            ys = [tf.identity(x) for x in xs]
        with tf.device(W1):
            return [tf.identity(y) for y in ys]

    values = [(copied_values.as_type(tf.constant(v), dtype), v) for _, dtype, v in copied_values.values()]
    results = over_two([x for x, _ in values])
    print([r.dtype.name for r, (x, v) in zip(results, values) if not copied_values.same(r.numpy(), v)])
    large = np.arange(16 << 20, dtype=np.float32)  # 64 MB
    with tf.device(W0):
        total = tf.reduce_max(tf.constant(large))
        back = tf.identity(large)
    with tf.device(W1):
        across = tf.identity(back)  # from worker to worker
        further = tf.reduce_max(across)
    print(float(total), float(further), across.shape, short(across.device), short(across.backing_device))
    print(np.array_equal(back.numpy(), large), np.array_equal(across.numpy(), large))


def variants():
    with tf.device(W0):
        there = tf.raw_ops.TensorListFromTensor(tensor=tf.constant([1.0, 2.0]), element_shape=tf.constant([], tf.int32))
    with tf.device(W1):
        x = tf.raw_ops.TensorListStack(
            input_handle=there, element_shape=tf.constant([], tf.int32), element_dtype=tf.float32
        )
    print(x.numpy().tolist())
    with tf.device(HERE):  # and to the client
        x = tf.raw_ops.TensorListStack(
            input_handle=there, element_shape=tf.constant([], tf.int32), element_dtype=tf.float32
        )
    print(short(x.device), x.numpy().tolist())


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


def functions_over_two():
    @tf.function
    def f(x):
        with tf.device(W0):
            y = x * 2.0
        with tf.device(W1):
            z = y + 1.0
        return z, y, x - 1.0

    with tf.device(W0):
        there = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    for x in (tf.constant([1.0, 2.0]), there, tf.constant([1.0, 2.0])):
        r = f(x)
        print([short(t.device) for t in r], [t.numpy().tolist() for t in r])

    @tf.function
    def texts(x):
        with tf.device(W0):
            y = tf.strings.join([x, "-"])
        with tf.device(W1):
            return tf.strings.upper(y), tf.cast(1.5, tf.complex64) * 2, tf.zeros([0, 2])

    print([t.numpy().tolist() for t in texts(tf.constant(["ab", "c"]))])
    here = tf.Variable(10.0)

    @tf.function
    def mixed(x):  # with a part on the client, in the middle
        with tf.device(W0):
            y = x * 2.0
        here.assign_add(y)
        with tf.device(W1):
            z = here * 3.0
        return z, here.read_value()

    r = mixed(tf.constant(2.0))
    print([short(t.device) for t in r], [float(t) for t in r], float(here))

    @tf.function
    def bad(x):
        with tf.device(W0):
            y = tf.gather(x, 7)
        with tf.device(W1):
            return y + 1.0

    for _ in range(3):
        try:
            print(bad(tf.constant([1.0])).numpy())
        except tf.errors.OpError as e:
            print(type(e).__name__, "indices = 7 is not in [0, 1)" in str(e))
        print(f(tf.constant([1.0]))[0].numpy().tolist())


def loops_over_two():
    """Loops and branches under the device of one worker, which change variables of both."""
    with tf.device(W0):
        a = tf.Variable(1.0)
    with tf.device(W1):
        b = tf.Variable(2.0)

    @tf.function
    def loop(n):
        for _ in tf.range(n):
            b.assign_add(1.0)
            a.assign_add(b)
        return a + b

    @tf.function
    def branch(n):
        if n > 2:
            b.assign_add(10.0)
            r = a + b
        else:
            r = a * 1.0
        return r

    @tf.function
    def both(n):
        for i in tf.range(n):
            if i % 2 == 0:
                with tf.device(W1):
                    a.assign_add(b)
            else:
                b.assign_sub(tf.cast(i, tf.float32))
        return a - b

    for device in (W0, W1, HERE):
        for f in (loop, branch, both):
            with tf.device(device):
                y = f(tf.constant(4))
            print(short(y.device), float(y), float(a), float(b))


def captured():
    with tf.device(W0):
        v = tf.Variable([1.0, 2.0])
    with tf.device(W1):
        w = tf.Variable([3.0, 4.0])

    @tf.function
    def both(x):
        v.assign_add(x)
        w.assign_sub(x)
        return v + w, v * w

    for _ in range(2):
        r = both(tf.constant([1.0, 1.0]))
        print([short(t.device) for t in r], [t.numpy().tolist() for t in r], v.numpy().tolist(), w.numpy().tolist())

    @tf.function
    def inner(x):
        with tf.device(W1):
            y = x * v[0]
        return y + v[1]

    @tf.function
    def outer(x):
        return inner(inner(x)) + 1.0

    @tf.function
    def branch(x):
        if x > 0.0:
            v.assign_add([x, x])
            return v[0] + 1.0
        return x

    print(float(outer(tf.constant(2.0))))
    print(float(branch(tf.constant(3.0))), float(branch(tf.constant(-3.0))), v.numpy().tolist())


def training_over_two():
    with tf.device(W0):
        v = tf.Variable([1.0, 2.0])
    with tf.device(W1):
        w = tf.Variable([3.0, 4.0])

    @tf.function
    def loss_of(x, y):
        with tf.device(W0):
            h = tf.tanh(x * v)
        with tf.device(W1):
            p = tf.reduce_sum(h * w, -1)
        return tf.reduce_mean((p - y) ** 2)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(x, y)
        gradients = tape.gradient(loss, [v, w])
        for variable, gradient in zip((v, w), gradients, strict=True):
            variable.assign_sub(0.1 * gradient)
        if tf.executing_eagerly():
            v.numpy(), w.numpy()  # TensorFlow may begin the next call before they are assigned
        return loss

    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1.0, -1.0])
    print([round(float(step(x, y)), 4) for _ in range(3)])
    print([round(float(tf.function(step)(x, y)), 4) for _ in range(2)])
    whole = tf.function(step)
    print([round(float(whole(x, y)), 4) for _ in range(5)], [[round(float(a), 4) for a in u.numpy()] for u in (v, w)])


def tables():
    with tf.device(W0):
        t = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        t.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
        print(t.lookup(tf.constant(["b", "z"])).numpy().tolist(), int(t.size()))
        s = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["x", "y"], [10, 20]), -5)
        print(s.lookup(tf.constant(["y", "q"])).numpy().tolist())
    print(s.lookup(tf.constant(["x"])).numpy().tolist())


def datasets():
    with tf.device(W0):
        it = iter(tf.data.Dataset.range(6).map(lambda x: x * 2).batch(4))
        print([next(it).numpy().tolist() for _ in range(2)])
        try:
            next(it)
        except StopIteration:
            print("stop")
        print(
            [
                x.numpy().tolist()
                for x in tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).shuffle(2, seed=1).take(1)
            ]
            != []
        )
    here = tf.data.Dataset.range(3).map(lambda x: x + 1)
    with tf.device(W0):
        there = tf.data.Dataset.range(3).map(lambda x: x + 2)
        print([int(x) for x in here])  # an iterator is where its dataset is
    print([int(x) for x in there])


def python_code():
    """Functions of datasets on a worker, and functions over workers, that call the client's Python."""

    def numbers(n):
        for i in range(n):
            yield i, [float(i)] * i

    with tf.device(W1):
        spec = (tf.TensorSpec([], tf.int64), tf.TensorSpec([None], tf.float32))
        generated = tf.data.Dataset.from_generator(numbers, output_signature=spec, args=(3,))
        print(short(generated._variant_tensor.device), [(int(a), b.numpy().tolist()) for a, b in generated])
        sums = generated.map(lambda a, b: tf.cast(a, tf.float32) + tf.reduce_sum(b)).batch(2)
        print([x.numpy().tolist() for x in sums], [x.numpy().tolist() for x in sums])
        called = tf.data.Dataset.range(4).map(lambda x: tf.py_function(lambda v: v.numpy() + 1, [x], tf.int64))
        print([int(x) for x in called.filter(lambda x: tf.numpy_function(lambda v: v % 2 == 0, [x], tf.bool))])
        wrong = tf.data.Dataset.range(2).map(lambda x: tf.py_function(lambda v: 1 // int(v), [x], tf.int64))
        try:
            print(next(iter(wrong)))
        except tf.errors.OpError as e:
            print(type(e).__name__, "ZeroDivisionError" in str(e))

    @tf.function
    def mixed(x):
        with tf.device(W0):
            y = x * 2
        z = tf.py_function(lambda v: v + 1, [y], tf.int32)
        with tf.device(W1):
            return z * tf.numpy_function(lambda v: v * v, [x], tf.int32)

    print(int(mixed(tf.constant(3))))


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


def unread():
    """Errors that nobody reads are raised where somebody waits, once."""
    with tf.device(W0):
        tf.raw_ops.Assert(condition=tf.constant(False), data=[tf.constant("no")])
    for _ in range(2):
        try:
            context.context().sync_executors()
            print("no error")
        except tf.errors.OpError as e:
            print(type(e).__name__)
    with tf.device(W0):
        print(float(tf.constant(1.0) + 1.0))
    print(context.check_alive("/job:worker/replica:0/task:0"))
    try:
        print(context.check_alive("/job:worker/replica:0/task:7"))
    except tf.errors.InvalidArgumentError as e:
        print("Unable to find worker interface corresponding to task /job:worker/replica:0/task:7" in str(e))


def late():
    """An op that is sent after an error came fails as one that was sent before; then the error was told."""
    for pause in (0.0, 0.5):
        with tf.device(W0):
            tf.raw_ops.Assert(condition=tf.constant(False), data=[tf.constant("no")])
            time.sleep(pause)
            for _ in range(2):
                try:
                    print(float(tf.constant(1.0) + 1.0))
                except tf.errors.InvalidArgumentError as e:
                    print("assertion failed: [no]" in str(e))
        context.context().sync_executors()


def again():
    """The same cluster again: what is there stays."""
    with tf.device(W0):
        v = tf.Variable(3.0)
    tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(json.loads(sys.argv[1])))
    print(float(v))
    with tf.device(W1):
        print(float(v + 1.0))


def hosts():
    """The same servers under other names than they were started with."""
    tf.config.experimental_connect_to_host(json.loads(sys.argv[1])["worker"], job_name="host")
    print([short(d.name) for d in tf.config.list_logical_devices("CPU")])
    first, second = (f"/job:host/task:{i}" for i in (0, 1))
    with tf.device(first):
        v = tf.Variable([1.0, 2.0])
    with tf.device(second):
        x = v * 3.0

    @tf.function
    def both(x):
        with tf.device(first):
            y = x + v
        with tf.device(second):
            return y * 2.0, tf.reduce_sum(y)

    r = both(x)
    print([short(t.device) for t in (v, x, *r)], [t.numpy().tolist() for t in r])


def threads():
    results = [None] * 8

    @tf.function
    def over_two(x):
        with tf.device(W0):
            y = x * 2.0
        with tf.device(W1):
            return y + 1.0

    def work(i):
        try:
            with tf.device(W0 if i % 2 else W1):
                x = tf.constant(float(i))
                for _ in range(20):
                    x = x + 1.0
            for _ in range(3):
                x = over_two(x)
            results[i] = float(x)
        except tf.errors.OpError as e:
            results[i] = f"{type(e).__name__}: {e}"

    all_threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join()
    print(results)


for f in (connect, ops, chain, copies, variants, variables, functions, functions_over_two, loops_over_two, captured, training, training_over_two,
          tables, datasets, python_code, errors, unread, late, again, threads, hosts):  # fmt: skip
    if f.__name__ in os.environ.get("SECTIONS", f.__name__).split(","):
        section(f)
print("end", flush=True)
