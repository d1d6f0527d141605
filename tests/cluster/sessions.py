"""What clients with sessions do on a cluster of two workers whose first is the master: sessions.py CLUSTER_JSON. Prints the same on TensorFlow and on weft,
whatever master and worker are."""

import json
import os
import sys
import tempfile
import threading

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import copied_values  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.core.protobuf import config_pb2 as v1_config  # noqa: E402

v1 = tf.compat.v1
v1.disable_eager_execution()
W0, W1 = "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"
ADDRESSES = json.loads(sys.argv[1])["worker"]
MASTER, OTHER = (f"grpc://{a}" for a in ADDRESSES)


def show(*values):
    """Values as plain Python has them: numpy's versions print theirs in different ways."""

    def plain(v):
        if isinstance(v, (list, tuple)):
            return [plain(x) for x in v]
        if isinstance(v, dict):
            return {k: plain(x) for k, x in v.items()}
        return v.tolist() if hasattr(v, "tolist") else v

    print(*[plain(v) for v in values])


def section(f):
    print("==", f.__name__, flush=True)
    with tf.Graph().as_default():
        f()


def devices():
    with v1.Session(MASTER) as s:
        print([(d.name, d.device_type) for d in s.list_devices()])
    with v1.Session(MASTER, config=v1.ConfigProto(device_filters=["/job:worker/task:0"])) as s:
        print([d.name for d in s.list_devices()])
    with v1.Session(OTHER) as s:
        print([d.name for d in s.list_devices()])


def runs():
    with tf.device(W0):
        a = v1.placeholder(tf.float32, [None], name="a")
        b = a * 2.0
    with tf.device(W1):
        c = b + 1.0
        d = tf.reduce_sum(c)
    e = d * 10.0
    with v1.Session(MASTER) as s:
        show(s.run(c, {a: [1, 2]}), s.run([d, b, e], {a: [3]}))
        show(s.run({"x": e, "y": [c]}, {a: [0.5]}), s.run(d, {c: [1.0, 2.0, 3.0]}), s.run(a, {a: [7]}))
        show(s.run(d.op, {a: [1]}))
        f = e + d  # the graph grows
        show(s.run(f, {a: [1]}))
        with tf.device(W1):
            g = f - 1.0
        show(s.run([g, f], {a: [2]}))


def copies():
    with v1.Session(MASTER) as s:
        for name, dtype, v in copied_values.values():
            x = v1.placeholder(tf.as_dtype(v.dtype) if v.dtype != object else tf.string)
            with tf.device(W1):
                y = tf.identity(copied_values.as_type(x, dtype))
            with tf.device(W0):
                z = tf.identity(y)
            there, back = s.run([y, z], {x: v})
            print(name, y.dtype.name, copied_values.same(there, v), copied_values.same(back, v))
        x = v1.placeholder(tf.float32)
        with tf.device(W1):
            y = tf.identity(x)
        large = np.arange(4 << 20, dtype=np.float32)
        show(np.array_equal(s.run(y, {x: large}), large))


def variables():
    for kind, resource in (("resource", True), ("ref", False)):
        with tf.Graph().as_default():
            with tf.device(W1):
                v = v1.get_variable(f"v_{kind}", initializer=[1.0, 2.0], use_resource=resource)
            with tf.device(W0):
                w = v1.get_variable(f"w_{kind}", initializer=3.0, use_resource=resource)
            step = v1.assign_add(v, [10.0, 20.0])
            with tf.device(W0):
                product = v * w
            with v1.Session(MASTER) as s:
                s.run(v1.global_variables_initializer())
                s.run(step.op if not resource else step)
                show(kind, s.run(v), s.run(product))
        with (
            tf.Graph().as_default()
        ):  # the state outlives the session; another client, with another master, has the same
            with tf.device(W1):
                v = v1.get_variable(f"v_{kind}", initializer=[0.0, 0.0], use_resource=resource)
            with v1.Session(OTHER) as s:
                show(s.run(v))
                s.run(v1.assign(v, [5.0, 6.0]))
            with v1.Session(MASTER) as s:
                show(s.run(v))


def containers():
    with tf.device(W1):
        handles = [
            tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], container=c, shared_name="kept") for c in ("mine", "")
        ]
        start = [tf.raw_ops.AssignVariableOp(resource=h, value=x) for h, x in zip(handles, (4.0, 5.0))]
        v, other = [tf.raw_ops.ReadVariableOp(resource=h, dtype=tf.float32) for h in handles]
    with v1.Session(MASTER) as s:
        s.run(start)
        show(s.run([v, other]))
    old = v1.Session(MASTER)
    show(old.run(other))
    v1.Session.reset(MASTER, ["mine"])
    try:
        old.run(other)
    except tf.errors.AbortedError as e:
        print("AbortedError", "is not found" in str(e))
    with v1.Session(MASTER) as s:
        show(s.run(other))
        try:
            s.run(v)
            print("no error")
        except tf.errors.FailedPreconditionError:
            print("FailedPreconditionError")
    v1.Session.reset(MASTER)
    with v1.Session(MASTER) as s:
        try:
            s.run(other)
            print("no error")
        except tf.errors.FailedPreconditionError:
            print("FailedPreconditionError")


def queues():
    with tf.device(W1):
        q = v1.FIFOQueue(10, tf.float32, shared_name="numbers")
        put = q.enqueue_many([[1.0, 2.0, 3.0]])
        get, size = q.dequeue(), q.size()
    got = []
    with v1.Session(MASTER) as consumer, v1.Session(OTHER) as producer:
        t = threading.Thread(target=lambda: got.append(consumer.run(get)))
        t.start()  # waits for the producer
        producer.run(put)
        t.join()
        show(got, consumer.run(size), producer.run([get, size])[0], consumer.run(get), producer.run(size))


def tables():
    with tf.device(W1):
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], tf.string, tf.int64), -1
        )
        found = table.lookup(tf.constant(["b", "c", "a"]))
    with v1.Session(MASTER) as s:
        s.run(v1.tables_initializer())
        show(s.run(found))


def iterators():
    with tf.device(W1):
        data = tf.data.Dataset.range(4).map(lambda x: x * x)
        iterator = v1.data.make_initializable_iterator(data)
        element = iterator.get_next()
    with v1.Session(MASTER) as s:
        s.run(iterator.initializer)
        show([int(s.run(element)) for _ in range(4)])
        try:
            s.run(element)
        except tf.errors.OutOfRangeError:
            print("OutOfRangeError")
        s.run(iterator.initializer)
        show(int(s.run(element)))


def training():
    with tf.device(W0):
        w = v1.get_variable("weights", initializer=[[0.5], [-0.5]], use_resource=True)
    with tf.device(W1):
        x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        y = tf.constant([[1.0], [2.0], [3.0]])
        loss = tf.reduce_mean((tf.matmul(x, w) - y) ** 2)
    step = v1.train.GradientDescentOptimizer(0.01).minimize(loss)
    with v1.Session(MASTER) as s:
        s.run(v1.global_variables_initializer())
        losses = [round(float(s.run([loss, step])[0]), 5) for _ in range(5)]
        show(losses, [[round(float(x), 5) for x in row] for row in s.run(w)])


def checkpoints():
    """A sharded saver has each task write what it has."""
    with tf.device(W0):
        a = v1.get_variable("saved_a", initializer=[1.0, 2.0], use_resource=True)
    with tf.device(W1):
        b = v1.get_variable("saved_b", initializer=[[3.0], [4.0]], use_resource=True)
        c = v1.get_variable("saved_c", initializer=5, use_resource=True)
    saver, whole = v1.train.Saver(sharded=True), v1.train.Saver()
    ops = v1.get_default_graph().get_operations()
    print(sorted(o.device for o in ops if o.type == "SaveV2"), sorted(o.device for o in ops if o.type == "RestoreV2"))
    with tempfile.TemporaryDirectory() as folder, v1.Session(MASTER) as s:
        s.run(v1.global_variables_initializer())
        path = saver.save(s, os.path.join(folder, "model"), global_step=3)
        print(os.path.basename(path), sorted(os.listdir(folder)))
        for again in (saver, whole):
            s.run([v1.assign(a, [0.0, 0.0]), v1.assign(b, [[0.0], [0.0]]), v1.assign(c, 0)])
            again.restore(s, path)
            show(s.run([a, b, c]))


def functions():
    @tf.function
    def inner(x):
        with tf.device(W1):
            return x * 3.0

    @tf.function
    def f(x):
        with tf.device(W0):
            y = inner(x) + 1.0
        return y, tf.shape(y)

    x = v1.placeholder(tf.float32, [2])
    y, shape = f(x)
    with tf.device(W1):
        branch = tf.cond(y[0] > 5.0, lambda: y * 10.0, lambda: -y)
        count, _ = tf.while_loop(lambda i, t: i < 5, lambda i, t: (i + 1, t * 2.0), [tf.constant(0), y[0]])
    with v1.Session(MASTER) as s:
        show(s.run(y, {x: [1, 2]}), s.run(shape, {x: [1, 2]}))
        show(s.run(branch, {x: [1, 2]}), s.run(branch, {x: [2, 3]}), s.run(count, {x: [0, 0]}))


def partial_runs():
    with tf.device(W0):
        a, b = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
        c = a + 1.0
    with tf.device(W1):
        d = c * b
    with v1.Session(MASTER) as s:
        h = s.partial_run_setup([c, d], [a, b])
        first = s.partial_run(h, c, {a: 2.0})
        show(first, s.partial_run(h, d, {b: float(first) * 10}))
        try:
            s.partial_run(h, d)
        except tf.errors.InvalidArgumentError as e:
            print("InvalidArgumentError")
        show(s.run(d, {a: 1.0, b: 1.0}))


def callables():
    x = v1.placeholder(tf.float32, [])
    with tf.device(W1):
        y = x * x
        double = x + x
    with v1.Session(MASTER) as s:
        call = s.make_callable(y, [x])
        show(call(3.0), call(4.0))
        options = v1_config.CallableOptions(feed=[x.name], fetch=[y.name, double.name])
        options.run_options.trace_level = v1_config.RunOptions.FULL_TRACE
        square = s._make_callable_from_options(options)
        more = y + 1.0  # the graph grows behind it
        show(square(np.float32(5.0), run_metadata=v1_config.RunMetadata()))
        plus = s._make_callable_from_options(v1_config.CallableOptions(feed=[x.name], fetch=[more.name]))
        show(plus(np.float32(6.0)), square(np.float32(7.0)))
        for wrong in (
            {"fetch": ["nobody:0"]},
            {"fetch": [y.name], "feed": ["nobody:0"]},
            {"fetch": [x.name], "feed": [x.name]},
            {"target": ["nobody"]},
            {},
        ):
            try:
                s._make_callable_from_options(v1_config.CallableOptions(**wrong))()
            except tf.errors.OpError as e:
                print(type(e).__name__)
        del square
        gone = s._make_callable_from_options(v1_config.CallableOptions(fetch=[more.name]))
        try:
            gone()  # nothing is fed
        except tf.errors.OpError as e:
            print(type(e).__name__)


def connections():
    """Callables that have one tensor take another one's place."""
    with tf.device(W0):
        a = v1.placeholder(tf.float32, [], name="a")
        tf.add(a, 1.0, name="b")
    with tf.device(W1):
        c, k = v1.placeholder(tf.float32, [], name="c"), v1.placeholder(tf.float32, [], name="k")
        tf.multiply(a + 1.0, c, name="d")
        tf.add(tf.multiply(c, 10.0, name="e"), k, name="m")
    with v1.Session(MASTER) as s:

        def call(fetches, pairs, targets=(), feeds=("a:0",)):
            options = v1_config.CallableOptions(feed=feeds, fetch=fetches, target=targets)
            for one, other in pairs:
                options.tensor_connection.add(from_tensor=one, to_tensor=other)
            try:
                show(s._make_callable_from_options(options)(*[np.float32(4.0)] * len(feeds)))
            except tf.errors.OpError as e:
                print(type(e).__name__)

        call(["e:0"], [("b:0", "c:0")])
        call(["d:0", "e:0", "b:0"], [("b", "c")])
        call(["m:0"], [("b:0", "c:0"), ("e:0", "k:0")])
        call(["m:0"], [("b:0", "e:0"), ("b:0", "k:0")])
        call(["b:0"], [("b:0", "c:0")], targets=["e"])
        call(["e:0"], [("nobody:0", "c:0")])
        call(["e:0"], [("b:0", "nobody:0")])
        call(["e:0"], [("b:3", "c:0")])


def errors():
    x = v1.placeholder(tf.int32, [1])
    with tf.device(W0):
        near = tf.raw_ops.Gather(params=[1.0, 2.0], indices=x)
    with tf.device(W1):
        far = tf.raw_ops.Gather(params=[1.0, 2.0], indices=x)
        number = v1.string_to_number(tf.constant("abc"))
        unfed = v1.placeholder(tf.float32, [], name="unfed") + 1.0
        missing = v1.get_variable("never", initializer=1.0, use_resource=True)
    with tf.device(W0):
        reads_far = far + 1.0
    cases = (
        ("near", near, {x: [5]}, "indices[0] = 5 is not in [0, 2)", W0),
        ("far", far, {x: [5]}, "indices[0] = 5 is not in [0, 2)", W1),
        ("reads_far", reads_far, {x: [5]}, "indices[0] = 5 is not in [0, 2)", W1),
        ("number", number, None, "StringToNumberOp could not correctly convert string: abc", W1),
        ("unfed", unfed, None, "You must feed a value for placeholder tensor 'unfed' with dtype float", W1),
        ("missing", missing, None, "never", W1),
    )
    with v1.Session(MASTER) as s:
        for name, fetch, feed, text, task in cases:
            try:
                s.run(fetch, feed)
                print(name, "no error")
            except tf.errors.OpError as e:
                print(name, type(e).__name__, text in str(e), task in str(e))
            show(s.run([near, far], {x: [1]}))  # the session goes on
        with tf.device("/job:worker/task:7"):
            nowhere = tf.constant(1.0) + 1.0
        try:
            s.run(nowhere)
        except tf.errors.InvalidArgumentError as e:
            print(
                "nowhere",
                "/job:worker/task:7 but available devices are [ " + W0 + "/device:CPU:0, " + W1 + "/device:CPU:0 ]"
                in str(e),
            )
    with v1.Session(MASTER) as s:
        s.close()
        try:
            s.run(near, {x: [1]})
        except RuntimeError as e:
            print(e)


def deadlines():
    with tf.device(W1):
        far = v1.FIFOQueue(1, tf.float32, shared_name="empty").dequeue()
    with tf.device(W0):
        near = v1.FIFOQueue(1, tf.float32, shared_name="empty too").dequeue()
        one = tf.constant(1.0) + 1.0
    with v1.Session(MASTER) as s:
        for fetch in (far, near):
            try:
                s.run(fetch, options=v1.RunOptions(timeout_in_ms=300))
                print("no error")
            except tf.errors.DeadlineExceededError:
                print("DeadlineExceededError")
            show(s.run(one))
    with v1.Session(MASTER, config=v1.ConfigProto(operation_timeout_in_ms=300)) as s:
        try:
            s.run(far)
            print("no error")
        except tf.errors.DeadlineExceededError:
            print("DeadlineExceededError")


def metadata():
    x = v1.placeholder(tf.float32, [], name="x")
    with tf.device(W0):
        y = tf.exp(x, name="y")
    with tf.device(W1):
        z = tf.exp(y, name="z")
    with v1.Session(MASTER) as s:
        found = v1.RunMetadata()
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE, output_partition_graphs=True)
        s.run(z, {x: 0.0}, options=options, run_metadata=found)
        ran = {(d.device, n.node_name) for d in found.step_stats.dev_stats for n in d.node_stats}
        print((W0 + "/device:CPU:0", "y") in ran, (W1 + "/device:CPU:0", "z") in ran)
        print(
            len(found.partition_graphs), sorted(n.name for g in found.partition_graphs for n in g.node if n.op == "Exp")
        )
        found = v1.RunMetadata()
        s.run(z, {x: 0.0}, run_metadata=found)
        print(len(found.step_stats.dev_stats))


def threads():
    x = v1.placeholder(tf.float32, [])
    with tf.device(W0):
        y = x + 1.0
    with tf.device(W1):
        z = y * 2.0
    results = [None] * 8
    with v1.Session(MASTER) as s:

        def work(i):
            results[i] = [float(s.run(z, {x: float(i + k)})) for k in range(5)]

        all_threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in all_threads:
            t.start()
        for t in all_threads:
            t.join()
    print(results)


def replicas():
    """Between-graph replication: each worker has a client with a graph and a session of its own; variables are shared."""
    totals, lock = {}, threading.Lock()

    def client(task, target):
        with tf.Graph().as_default():
            with tf.device(W0):
                total = v1.get_variable("shared_total", initializer=0.0, use_resource=True)
            with tf.device(f"/job:worker/task:{task}"):
                add = v1.assign_add(total, float(task + 1), use_locking=True)
            with v1.Session(target) as s:
                if task == 0:
                    s.run(v1.global_variables_initializer())
                    ready.set()
                ready.wait()
                for _ in range(10):
                    s.run(add.op if hasattr(add, "op") else add)
            with lock:
                totals[task] = True

    ready = threading.Event()
    clients = [threading.Thread(target=client, args=(i, t)) for i, t in enumerate((MASTER, OTHER))]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    with tf.device(W0):
        total = v1.get_variable("shared_total", initializer=0.0, use_resource=True)
    with v1.Session(OTHER) as s:
        show(s.run(total), len(totals))


def monitored():
    """A training session that keeps itself going."""
    with tf.device(W0):
        step = v1.train.get_or_create_global_step()
    with tf.device(W1):
        w = v1.get_variable("monitored_w", initializer=4.0, use_resource=True)
        loss = w * w
    train = v1.train.GradientDescentOptimizer(0.25).minimize(loss, global_step=step)
    losses = []
    with v1.train.MonitoredTrainingSession(
        master=MASTER, is_chief=True, hooks=[v1.train.StopAtStepHook(last_step=4)]
    ) as s:
        while not s.should_stop():
            losses.append(float(s.run([loss, train])[0]))
    print(losses)


def own_clusters():
    """A session that brings its cluster along, in which the tasks have other names."""
    cluster = tf.train.ClusterSpec({"other": {3: ADDRESSES[0], 5: ADDRESSES[1]}}).as_cluster_def()
    with tf.device("/job:other/task:3"):
        x = v1.placeholder(tf.float32, [])
        a = x * 3.0
        table = v1.get_variable("own_table", initializer=[1.0, 2.0], use_resource=True)
    with tf.device("/job:other/task:5"):
        v = v1.get_variable("own_v", initializer=1.0, use_resource=True)
        b = v1.assign_add(v, a) + tf.reduce_sum(table)
    with v1.Session(MASTER, config=v1.ConfigProto(cluster_def=cluster)) as s:
        print(sorted(d.name for d in s.list_devices() if "CPU:0" in d.name))
        s.run(v1.global_variables_initializer())
        show(s.run(b, {x: 1.0}), *s.run([b, a], {x: 2.0}))
    with v1.Session(MASTER, config=v1.ConfigProto(cluster_def=cluster)) as s:  # has a state of its own
        try:
            show(*s.run([v, table]))
        except tf.errors.OpError as e:
            print(type(e).__name__, "container=other" in str(e))
    elsewhere = tf.train.ClusterSpec({"other": {5: ADDRESSES[1]}}).as_cluster_def()
    try:
        v1.Session(MASTER, config=v1.ConfigProto(cluster_def=elsewhere)).run(v)
        print("no error")
    except tf.errors.OpError as e:
        print(type(e).__name__, "The master (current machine) is not included in the provided cluster_def" in str(e))


for f in (
    devices, runs, copies, variables, containers, queues, tables, iterators, training, checkpoints, functions, partial_runs, callables, connections, errors, deadlines,
    metadata, threads, replicas, monitored, own_clusters,
):  # fmt: skip
    if f.__name__ in os.environ.get("SECTIONS", f.__name__).split(","):
        section(f)
print("end", flush=True)
