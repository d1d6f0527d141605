"""One member of a group of tasks, on TensorFlow or (by `python -m weft`) on weft: collective_member.py CLUSTER_JSON TASK WHAT.

WHAT: `values` plays all collectives and prints a digest of each result; `coordination` the key-value store, barriers and states; the others end badly, and
print the error that this member has and after how many seconds: `killed` and `stopped` (the last task is, in the middle), `reported` (task 1 tells of an
error), `mismatch` (shapes differ), `late` (the last task does not come), `aborted` (task 0 aborts).
"""

import hashlib
import json
import os
import signal
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.eager import context  # noqa: E402

HEARTBEAT_MS = int(1000 * float(os.environ.get("HEARTBEAT", 2)))
cluster, task, what = json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
size = len(cluster["worker"])
last = task == size - 1
raw = tf.raw_ops


def server_def():
    from tensorflow.core.protobuf import tensorflow_server_pb2

    d = tensorflow_server_pb2.ServerDef()
    d.cluster.CopyFrom(tf.train.ClusterSpec(cluster).as_cluster_def())
    d.job_name, d.task_index, d.protocol = "worker", task, "grpc"
    experimental = d.default_session_config.experimental
    experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    if what != "values":
        config = experimental.coordination_config
        config.service_type, config.service_leader = "standalone", "/job:worker/replica:0/task:0"
        config.heartbeat_timeout_in_ms = HEARTBEAT_MS
        job = config.coordinated_job_list.add()
        job.name, job.num_tasks = "worker", size
    return d


here = context.context()
here.enable_collective_ops(server_def())
here.ensure_initialized()


# ---- one call of each kind

count = 0


def instance():
    global count
    count += 1
    return count


def reduce(x, merge="Add", final="Id", key=1, timeout=0, **more):
    return raw.CollectiveReduceV2(
        input=x,
        group_size=size,
        group_key=key,
        instance_key=instance(),
        ordering_token=[],
        merge_op=merge,
        final_op=final,
        timeout_seconds=timeout,
        **more,
    )


def gather(x):
    return raw.CollectiveGatherV2(
        input=x, group_size=size, group_key=1, instance_key=instance(), ordering_token=[], timeout_seconds=0
    )


def broadcast(x, source):
    if source == task:
        return raw.CollectiveBcastSendV2(input=x, group_size=size, group_key=1, instance_key=instance())
    return raw.CollectiveBcastRecvV2(
        T=x.dtype, group_size=size, group_key=1, instance_key=instance(), shape=tf.constant(x.shape.as_list(), tf.int32)
    )


def exchange(x):
    return raw.CollectiveAllToAllV2(
        input=x, group_size=size, group_key=1, instance_key=instance(), ordering_token=[], timeout_seconds=0
    )


def values(shape, dtype, seed):
    numbers = np.random.RandomState(1000 * seed + task).uniform(-3, 3, shape)
    if dtype is tf.bool:
        return tf.constant(numbers > 0)
    if dtype.is_integer:
        return tf.constant((numbers * 100).astype(dtype.as_numpy_dtype))
    return tf.cast(tf.constant(numbers), dtype)


def show(name, result):
    array = result.numpy()
    print(name, array.dtype, array.shape, hashlib.sha1(np.ascontiguousarray(array).tobytes()).hexdigest()[:12])


def play_values():
    print("device", tf.constant(1).device)
    numbers = [tf.bfloat16, tf.half, tf.float32, tf.float64, tf.int32, tf.int64]
    for t in numbers:
        for merge in ["Add", "Mul", "Min", "Max"]:
            for final in ["Id", "Div"]:
                if final == "Div" and (merge != "Add" or t.is_integer):
                    continue
                for shape in [[1], [7], [3, 333]]:
                    show(f"reduce {t.name} {merge} {final} {shape}", reduce(values(shape, t, 1), merge, final))
    show("reduce large", reduce(values([100003], tf.float32, 2)))
    show("reduce many chunks", reduce(values([3000001], tf.float32, 3), max_subdivs_per_device=2))
    for offsets in [[0], [0, 0], [0, 1], [0, -1]]:
        x = raw.CollectiveReduce(
            input=values([100], tf.float32, 4),
            group_size=size,
            group_key=1,
            instance_key=instance(),
            merge_op="Add",
            final_op="Div",
            subdiv_offsets=offsets,
        )
        show(f"reduce version 1 {offsets}", x)
    for t in [tf.half, tf.float32, tf.float64, tf.int32, tf.int64]:
        for shape in [[1], [3, 2], [1000, 30]]:
            show(f"gather {t.name} {shape}", gather(values(shape, t, 5)))
    for t in [tf.bool, tf.half, tf.float32, tf.float64, tf.int32, tf.int64]:
        for source in range(size):
            for shape in [[], [5], [100, 100]]:
                show(f"broadcast {t.name} from {source} {shape}", broadcast(values(shape, t, 6), source))
    for t in numbers:
        show(f"exchange {t.name}", exchange(values([size, 4], t, 7)))

    @tf.function
    def several(x):
        for _ in range(3):
            x = raw.CollectiveReduceV2(
                input=x,
                group_size=size,
                group_key=1,
                instance_key=5000,
                ordering_token=[],
                merge_op="Add",
                final_op="Div",
            )
        return x

    for i in range(3):
        show(f"function {i}", several(values([10], tf.float32, 8 + i)))
    show("another group", reduce(values([10], tf.float32, 12), key=2))


def play_coordination():
    here.set_config_key_value(f"names/{task}", f"task {task}")
    got = [here.get_config_key_value(f"/names//{i}") for i in range(size)]
    print("keys", got)
    for _ in range(3):
        here.wait_at_barrier("again", 60000)
    if task == 0:
        attempt(lambda: here.set_config_key_value("names/0", "other"))
        attempt(lambda: here.wait_at_barrier("alone", 300))
        here.delete_config_key_value("names")
        here.set_config_key_value("names/0", "new")
    here.wait_at_barrier("deleted", 60000)
    print("keys", here.get_config_key_value("names/0") == "new")
    print("states", here.get_task_states([("worker", size)]))
    here.wait_at_barrier("end", 60000)
    if last:
        here.report_error_to_cluster(3, "the task does not feel well")
    while not (states := here.get_task_states([("worker", size)]))[-1]:
        time.sleep(0.05)
    print("states", [str(state) for state in states], type(states[-1]).__name__)
    time.sleep(3 if task == 0 else 0)  # the others ask it


def attempt(f):
    begin = time.time()
    try:
        f()
    except Exception as e:
        lines = str(e).split("}} ")[-1].splitlines()
        print(type(e).__name__, round(time.time() - begin, 1), " ".join(lines[:4]), flush=True)
    else:
        print("no error", flush=True)


def play_fault():
    x = tf.zeros([100000])
    reduce(x)
    here.wait_at_barrier("ready", 60000)
    print("ready", flush=True)
    if what == "killed" and last:
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "stopped" and last:
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGSTOP)
    if what == "reported" and task == 1:
        here.report_error_to_cluster(3, "the task does not feel well")
    if what == "aborted" and task == 0:
        time.sleep(0.3)
        here.abort_collective_ops(10, "enough")
    if what == "late" and last:
        time.sleep(4)
        return
    attempt(lambda: reduce(tf.zeros([task + 1 if what == "mismatch" else 4]), timeout=1 if what == "late" else 0))
    attempt(lambda: reduce(x))
    # Others ask this task for what it has; TensorFlow's members hear of an error from the leader, with a heartbeat.
    time.sleep(float(os.environ.get("STAYS", 1)) * (1 if task else 2))


{"values": play_values, "coordination": play_coordination}.get(what, play_fault)()
sys.stdout.flush()
os._exit(0)
