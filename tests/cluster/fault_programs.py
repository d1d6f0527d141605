"""What the processes of faults.py do. Each gets say(words), which the test hears, and hear(), what the test says."""

import json
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import weft as tf


def server(say, hear, cluster, job, task):
    made = tf.distribute.Server(cluster, job_name=job, task_index=task, protocol="grpc")
    say("serves")
    made.join()


def dispatcher(say, hear, port, work_dir):
    service = tf.data.experimental.service
    config = service.DispatcherConfig(
        port=port, work_dir=work_dir, fault_tolerant_mode=True, worker_addresses=["localhost", "localhost"]
    )
    made = service.DispatchServer(config)
    say("serves", made._address)
    made.join()


def data_worker(say, hear, address, port):
    service = tf.data.experimental.service
    made = service.WorkerServer(service.WorkerConfig(dispatcher_address=address, port=port, heartbeat_interval_ms=100))
    say("serves", made._address)
    made.join()


def error_line(e):
    return json.dumps([type(e).__name__, str(e)])


def member(say, hear, cluster, task, heartbeat_ms):
    """Reduces tensors of all sizes until a member is lost."""
    from weft import _weft
    from tensorflow.core.protobuf import tensorflow_server_pb2

    size = len(cluster["worker"])
    d = tensorflow_server_pb2.ServerDef()
    d.cluster.CopyFrom(tf.train.ClusterSpec(cluster).as_cluster_def())
    d.job_name, d.task_index, d.protocol = "worker", task, "grpc"
    experimental = d.default_session_config.experimental
    experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    config = experimental.coordination_config
    config.service_type, config.service_leader = "standalone", "/job:worker/replica:0/task:0"
    config.heartbeat_timeout_in_ms = heartbeat_ms
    job = config.coordinated_job_list.add()
    job.name, job.num_tasks = "worker", size
    _weft.enable_collective_ops(d.SerializeToString())

    def reduce(x, key):
        return tf.raw_ops.CollectiveReduceV2(
            input=x, group_size=size, group_key=1, instance_key=key, ordering_token=[], merge_op="Add", final_op="Id"
        )

    sizes = [4, 1000, 100000, 1000000]
    inputs = [tf.ones([n]) for n in sizes]
    reduce(inputs[0], 1)
    say("ready")
    hear()
    try:
        for i in range(1 << 30):
            got = reduce(inputs[i % 4], 2 + i % 4)
            assert float(got[0]) == size
    except tf.errors.OpError as e:
        at = time.monotonic()
        x = float(tf.reduce_sum(tf.ones([1000])))  # it goes on, without the group
        say(json.dumps([type(e).__name__, str(e), at, x]))
    hear()


def trainer(say, hear, cluster, task, folder, steps, every, heartbeat_ms):
    """One worker of a MultiWorkerMirroredStrategy with checkpoints, from the last one on; says what it does, at the end the weights."""
    from tensorflow.python.eager import context

    context.context().configure_coordination_service(
        "standalone", "/job:worker/replica:0/task:0", heartbeat_timeout_in_ms=heartbeat_ms
    )
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": task}})
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    say("ready")
    x = np.random.RandomState(1).uniform(-1, 1, [8 * steps, 3]).astype(np.float32)
    y = x @ np.float32([1, -2, 0.5])
    with strategy.scope():
        w = tf.Variable([0.1, 0.2, 0.3])
        done = tf.Variable(0, dtype=tf.int64, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
        ballast = tf.Variable(tf.zeros([1 << 18]))
    checkpoint = tf.train.Checkpoint(w=w, done=done, ballast=ballast)
    # Each in a folder of its own; that of the chief is the one that counts.
    own = folder if strategy.extended.should_checkpoint else os.path.join(folder, f"other_{task}")
    manager = tf.train.CheckpointManager(checkpoint, own, max_to_keep=2)
    latest = tf.train.latest_checkpoint(folder)
    if latest:
        checkpoint.restore(latest)

    @tf.function
    def step(x, y):
        def replica(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((tf.linalg.matvec(x, w) - y) ** 2) / 8.0
            (g,) = tf.distribute.get_replica_context().all_reduce("SUM", [tape.gradient(loss, w)])
            w.assign_sub(0.2 * g)
            done.assign_add(1)

        strategy.run(replica, args=(x, y))

    try:
        first = int(done.numpy())
        say("begins", first)
        for i in range(first, steps):
            say("step", i)
            rows = slice(8 * i + 4 * task, 8 * i + 4 * task + 4)
            step(tf.constant(x[rows]), tf.constant(y[rows]))
            if i % every == every - 1:
                say("saves", i)
                manager.save()
        say("weights", w.numpy().tobytes().hex(), int(done.numpy()))
    except tf.errors.OpError as e:
        say("lost", json.dumps([type(e).__name__, str(e), time.monotonic()]))
    hear()  # nobody leaves before all are there


def coordinator(say, hear, cluster):
    """Counts on a parameter server, by steps of two workers, as often as it is told."""
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(cluster), rpc_layer="grpc")
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    made = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        total = tf.Variable(0.0)

    @tf.function
    def step(x):
        for _ in range(20):
            x = x * 1.0 + 0.0 * total
        return total.assign_add(x)

    say("serves")
    while line := hear():
        say("steps")
        try:
            begin = float(total)
            results = [made.schedule(step, args=(tf.constant(1.0),)) for _ in range(int(line))]
            made.join()
            say(json.dumps(["done", float(total) - begin, len(made.fetch(results))]))
        except tf.errors.OpError as e:
            say(error_line(e))


def endless_client(say, hear, cluster, what):
    """Has a worker do something that takes for ever."""
    tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(cluster))
    worker = "/job:worker/task:0"
    with tf.device(worker):
        total = tf.Variable(0)
        queue = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32])

    @tf.function
    def forever(n):
        for _ in tf.range(n):
            total.assign_add(1)
        return total.read_value()

    @tf.function
    def over_two(n):
        with tf.device(worker):
            x = tf.while_loop(lambda i: i < n, lambda i: [i + 1], [tf.constant(0, tf.int64)])[0]
        with tf.device("/job:worker/task:1"):
            return x + 1

    say("begins")
    if what == "op":
        with tf.device(worker):
            tf.raw_ops.QueueDequeueV2(handle=queue, component_types=[tf.float32])[0].numpy()
    elif what == "function":
        with tf.device(worker):
            forever(tf.constant(1 << 30)).numpy()
    elif what == "parts":
        over_two(tf.constant(1 << 60, tf.int64)).numpy()
    else:
        v1 = tf.compat.v1
        with tf.Graph().as_default(), tf.device(worker):
            x = tf.while_loop(lambda i: i < (1 << 60), lambda i: [i + 1], [tf.constant(0, tf.int64)])[0]
            v1.Session("grpc://" + cluster["worker"][0]).run(x)
