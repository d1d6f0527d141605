"""What clients do whose graphs are spread over the tasks by more than device scopes: sessions_spread.py CLUSTER_JSON, on two workers whose first is
the master. Prints the same on TensorFlow and on weft, whatever master and worker are."""

import json
import os
import pathlib
import sys
import threading

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

tf.get_logger().setLevel("FATAL")
v1 = tf.compat.v1
v1.disable_eager_execution()
W0, W1 = "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"
ADDRESSES = json.loads(sys.argv[1])["worker"]
MASTER, OTHER = (f"grpc://{a}" for a in ADDRESSES)


def show(*values):
    print(*[v.tolist() if hasattr(v, "tolist") else v for v in values])


def section(f):
    print("==", f.__name__, flush=True)
    with tf.Graph().as_default():
        f()


def device_functions():
    asked = []

    def place(op):
        asked.append((op.type, op.device))
        return W1 if op.type == "Mul" else op.device or W0

    with v1.device(place):
        x = v1.placeholder(tf.float32, [], name="x")
        y = tf.multiply(x, 3.0, name="y")
        with tf.device("/device:CPU:0"):
            z = tf.add(y, 1.0, name="z")
        with tf.device(None):
            free = tf.identity(z, name="free")
    print([t.op.device for t in (x, y, z, free)], ("Placeholder", "") in asked, ("AddV2", "/device:CPU:0") in asked)
    with v1.Session(MASTER) as s:
        show(*s.run([z, free], {x: 2.0}))
    with v1.colocate_with(y):
        beside = tf.identity(z, name="beside")
    print(beside.op.device, beside.op.colocation_groups())
    for wrong in (lambda: tf.device(place), lambda: v1.train.replica_device_setter(2, ps_strategy=1)):
        try:
            wrong()
        except (RuntimeError, TypeError) as e:
            print(type(e).__name__, e)


def setters():
    """Variables, with what the optimizer keeps for them, go to the tasks in turns."""
    setter = v1.train.replica_device_setter(ps_tasks=2, ps_device="/job:worker", worker_device=W0)
    with v1.device(setter):
        x, y = v1.placeholder(tf.float32, [None, 3]), v1.placeholder(tf.float32, [None])
        w = v1.get_variable("setter_w", initializer=[0.5, -0.5, 0.25], use_resource=True)
        b = v1.get_variable("setter_b", initializer=0.0, use_resource=True)
        step = v1.train.get_or_create_global_step()
        loss = tf.reduce_mean((tf.linalg.matvec(x, w) + b - y) ** 2)
        train = v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step)
        saver_step = v1.assign_add(b, 0.0)
    print([v.device for v in v1.global_variables()])
    data = {x: [[1, 2, 3], [-1, 0, 1], [0.5, 0.5, 2]], y: [1, 0, 2]}
    with v1.Session(MASTER) as s:
        s.run(v1.global_variables_initializer())
        losses = [round(float(s.run([loss, train], data)[0]), 5) for _ in range(6)]
        print(losses, s.run(step).tolist(), [round(v, 5) for v in s.run(w).tolist()])
        s.run(saver_step)
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:2", "c:3"], "worker": ["d:4"]})
    with tf.Graph().as_default(), v1.device(v1.train.replica_device_setter(cluster=cluster)):
        kept = [v1.get_variable(f"v{i}", [2], use_resource=True).device for i in range(4)]
        with tf.device("/job:ps/task:1"):
            kept.append(v1.get_variable("own", [2], use_resource=True).device)
        print(kept, tf.constant(1.0).op.device)


def loops_of_version_1():
    graph = v1.GraphDef.FromString(pathlib.Path(__file__).with_name("loops_v1.pb").read_bytes())
    tf.import_graph_def(graph, name="")
    with v1.Session(MASTER, config=v1.ConfigProto(operation_timeout_in_ms=60000)) as s:
        for name in "branch simple count grown nested branched stacked".split():
            show(name, *[s.run(name + ":0", {"n:0": n, "x:0": [1.0, 2.0]}) for n in (0, 1, 4)])
        show(*s.run(["nested:0", "simple:0", "branched:0"], {"n:0": 7, "x:0": [1.0, 2.0]}))


def loops():
    """Loops and branches whose functions ask for several tasks."""
    n, x = v1.placeholder(tf.int32, []), v1.placeholder(tf.float32, [2])
    with tf.device(W1):
        v = v1.get_variable("loop_v", initializer=1.0, use_resource=True)
        scale = tf.constant(2.0)

    def body(i, t):
        with tf.device(W1):
            u = t * scale
            with tf.control_dependencies([v1.assign_add(v, 1.0)]):
                u = u + v.read_value()
        with tf.device(W0):
            return i + 1, tf.identity(u) - 1.0

    with tf.device(W0):
        # one at a time: TensorFlow does not order what iterations do with a variable
        i, y = tf.while_loop(lambda i, t: i < n, body, [tf.constant(0), x], parallel_iterations=1)

    def outer(i, t):
        def inner(j, s):
            with tf.device(W1):
                return j + 1, s + tf.cast(i, tf.float32)

        _, t = tf.while_loop(lambda j, s: j < i, inner, [0, t])
        with tf.device(W0):
            return i + 1, t * 2.0

    _, nested = tf.while_loop(lambda i, t: i < n, outer, [0, x])

    def there():
        with tf.device(W1):
            return x * 10.0, tf.constant("there")

    def here():
        with tf.device(W0):
            return -x, tf.constant("here")

    with tf.device(W0):
        branch, name = tf.cond(n > 2, there, here)
        case = tf.switch_case(n, [lambda: there()[0], lambda: here()[0], lambda: x])

    @tf.function
    def f(x):
        for k in tf.range(n):
            with tf.device(W1):
                x = x + tf.cast(k, tf.float32)
            if tf.equal(k % 2, 0):
                with tf.device(W0):
                    x = x * 2.0
        return x

    called = f(x)
    with v1.Session(MASTER, config=v1.ConfigProto(operation_timeout_in_ms=60000)) as s:
        s.run(v1.global_variables_initializer())
        for k in (0, 1, 3):
            feeds = {n: k, x: [1.0, 2.0]}
            show(k, *s.run([i, y], feeds), s.run(v), *s.run([nested, branch, name, case, called], feeds))


def collectives():
    """Of two tasks in one step, and of two clients."""
    config = v1.ConfigProto()
    config.experimental.collective_group_leader = W0
    with tf.device(W0):
        a = v1.placeholder(tf.float32, [2])
        ours = tf.raw_ops.CollectiveReduce(
            input=a, group_size=2, group_key=1, instance_key=1, merge_op="Add", final_op="Id", subdiv_offsets=[0]
        )
    with tf.device(W1):
        b = v1.placeholder(tf.float32, [2])
        theirs = tf.raw_ops.CollectiveReduce(
            input=b, group_size=2, group_key=1, instance_key=1, merge_op="Add", final_op="Id", subdiv_offsets=[0]
        )
    options = v1.RunOptions()
    options.experimental.collective_graph_key = 7
    with v1.Session(MASTER, config=config) as s:
        for k in range(3):
            show(*s.run([ours, theirs], {a: [1.0, k], b: [10.0, 20.0]}, options=options))
    results = {}

    def client(task, target):
        with tf.Graph().as_default(), tf.device(f"/job:worker/replica:0/task:{task}"):
            own = tf.constant([task + 1.0, 5.0])
            total = tf.raw_ops.CollectiveReduce(
                input=own, group_size=2, group_key=2, instance_key=3, merge_op="Add", final_op="Id", subdiv_offsets=[0]
            )
            own_config = v1.ConfigProto(device_filters=[f"/job:worker/task:{task}"])
            own_config.experimental.collective_group_leader = W0
            own_options = v1.RunOptions()
            own_options.experimental.collective_graph_key = 9
            with v1.Session(target, config=own_config) as s:
                results[task] = [s.run(total, options=own_options).tolist() for _ in range(2)]

    clients = [threading.Thread(target=client, args=(i, t)) for i, t in enumerate((MASTER, OTHER))]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    print(results.get(0), results.get(1))


mixed = len(sys.argv) > 2
for f in (device_functions, setters, loops_of_version_1, loops, *([] if mixed else [collectives])):
    section(f)
print("end", flush=True)
