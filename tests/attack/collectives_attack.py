"""Collective ops of members that do not fit together, do not come, or come again: in one graph, in threads, with deadlines of ops and of runs that pass at any
moment. Errors are answers; a death, a hang, or a sum that is not the sum of all members is a failure."""

import sys

import support

CHILD = """
import random, sys, threading
import weft as tf
raw, tf1 = tf.raw_ops, tf.compat.v1
random.seed(SEED)
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 4)
wrong = []


def call(kind, x, d, size, key, instance, timeout):
    common = {"group_size": size, "group_key": key, "instance_key": instance, "timeout_seconds": timeout}
    if kind == "reduce":
        return raw.CollectiveReduceV2(input=x * float(d + 1), ordering_token=[], merge_op="Add", final_op="Id", max_subdivs_per_device=random.choice([-1, 0, 3]), **common)
    if kind == "gather":
        return raw.CollectiveGatherV2(input=x, ordering_token=[], **common)
    if kind == "all":
        return raw.CollectiveAllToAllV2(input=x, ordering_token=[], **common)
    if kind == "scatter":
        return raw.CollectiveReduceScatterV2(input=x, ordering_token=[], merge_op="Add", final_op="Id", **common)
    if d == 0:
        return raw.CollectiveBcastSendV2(input=x, **common)
    return raw.CollectiveBcastRecvV2(shape=[4], T=tf.float32, **common)


def check(kind, value, size, label):
    if kind == "reduce" and value.tolist() != [v * size * (size + 1) / 2 for v in (1.0, 2.0, 3.0, 4.0)]:
        wrong.append((label, size, value.tolist()))


def in_a_graph():
    with tf1.Graph().as_default():
        size, x, made = random.choice([1, 2, 3, 4]), tf1.placeholder(tf.float32, [None]), []
        timeout = random.choice([0.0, 0.0, 1e-6, 1e-4, 0.01, 1.0])
        same = random.choice(["reduce", "reduce", "reduce", "gather", "all", "broadcast", "scatter", None])
        for d in range(size):
            if random.random() < 0.15:
                continue
            with tf.device(f"/CPU:{d}"):
                for instance in range(random.choice([1, 3])):
                    kind = same or random.choice(["reduce", "gather", "all", "broadcast"])
                    made.append((kind, call(kind, x, d, size if random.random() < 0.95 else size + 1, 1, instance, timeout)))
        if not made:
            return
        with tf1.Session(config=tf1.ConfigProto(device_count={"CPU": 4})) as session:
            for _ in range(3):
                try:
                    values = session.run([t for _, t in made], {x: [1.0, 2.0, 3.0, 4.0]}, options=tf1.RunOptions(timeout_in_ms=random.choice([1, 5, 30, 200])))
                    for (kind, _), value in zip(made, values):
                        check(kind, value, size, "graph")
                except tf.errors.OpError:
                    pass


def in_threads(round):
    size, timeout = random.choice([2, 3, 4]), random.choice([0.001, 0.05, 2.0])
    draws = [(random.random() < 0.1, random.random() * 0.01) for _ in range(size)]

    def member(d):
        absent, late = draws[d]
        if absent:
            return
        threading.Event().wait(late)
        try:
            with tf.device(f"/CPU:{d}"):
                check("reduce", call("reduce", tf.constant([1.0, 2.0, 3.0, 4.0]), d, size, 100 + size, round, timeout).numpy(), size, "threads")
        except tf.errors.OpError:
            pass

    threads = [threading.Thread(target=member, args=(d,)) for d in range(size)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


for round in range(8):
    in_a_graph()
    in_threads(round)
if wrong:
    print("wrong:", wrong[:3])
    sys.exit(3)
"""


def attack(random, build):
    outcome = support.child([sys.executable, "-c", CHILD.replace("SEED", str(random.randrange(1 << 31)))], seconds=90)
    if outcome.code == 3:
        return outcome.out.strip()
    if outcome.code not in (0, None) and not outcome.died:
        return f"the child failed: {outcome.err.strip()[-600:]}"
    return outcome.problem()


if __name__ == "__main__":
    support.main(__doc__, attack)
