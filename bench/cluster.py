"""Clients and workers on loopback, weft beside TensorFlow in one run, in turns: medians and ratios.

    cluster.py --weft PYTHON --tensorflow PYTHON [--rounds 5]

PYTHON: an interpreter that has the package (weft: PYTHONPATH says where it is). One client with two workers of its own kind; both clusters stand side by
side, and one of them is measured at a time.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "cluster"))
W = ["/job:worker/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0"]


def client(cluster):
    """Answers a case's name on stdin with the seconds that one turn of it took."""
    import numpy as np
    import tensorflow as tf

    tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(json.loads(cluster)))
    with tf.device(W[0]):
        a, b = tf.constant(1.0), tf.constant(2.0)
    arrays = {mb: np.ones(mb << 18, np.float32) for mb in (16, 64)}
    there = {}
    for mb, array in arrays.items():
        with tf.device(W[0]):
            there[mb] = tf.identity(array)

    @tf.function
    def one(x):
        return x * 2.0 + 1.0

    @tf.function
    def two(x):
        with tf.device(W[0]):
            y = x * 2.0
        with tf.device(W[1]):
            return y + 1.0

    def op_fetch():
        with tf.device(W[0]):
            (a + b).numpy()

    def function_fetch():
        with tf.device(W[0]):
            one(a).numpy()

    def function_two():
        two(a).numpy()

    def chain():
        with tf.device(W[0]):
            x = a
            for _ in range(100):
                x = x + b
            x.numpy()

    def put(mb):
        with tf.device(W[0]):
            x = tf.identity(arrays[mb])
            tf.raw_ops.Shape(input=x).numpy()

    def get(mb):
        with tf.device(W[0]):
            x = there[mb] + 0.0
        x.numpy()

    def across(mb):
        with tf.device(W[0]):
            x = there[mb] + 0.0
        with tf.device(W[1]):
            tf.raw_ops.Shape(input=tf.identity(x)).numpy()

    cases = {
        "op + fetch": (op_fetch, 100),
        "function + fetch": (function_fetch, 100),
        "function over two workers": (function_two, 50),
        "chain of 100 ops": (chain, 5),
        "16 MB to a worker": (lambda: put(16), 3),
        "64 MB to a worker": (lambda: put(64), 2),
        "16 MB from a worker": (lambda: get(16), 3),
        "64 MB from a worker": (lambda: get(64), 2),
        "16 MB between workers": (lambda: across(16), 3),
        "64 MB between workers": (lambda: across(64), 2),
    }
    for run, _ in cases.values():
        run()
        run()
    print("READY", flush=True)
    print(json.dumps(list(cases)), flush=True)
    for line in sys.stdin:
        run, times = cases[line.strip()]
        taken = []
        for _ in range(times):
            begin = time.perf_counter()
            run()
            taken.append(time.perf_counter() - begin)
        print(statistics.median(taken), flush=True)


class Cluster:
    def __init__(self, interpreter, on_weft):
        from tasks import cluster_of, command

        cluster = json.dumps(cluster_of(worker=2))
        side = interpreter, on_weft
        self.processes = [
            subprocess.Popen(command(side, "worker.py", cluster, "worker", str(i)), stdout=subprocess.PIPE, text=True)
            for i in range(2)
        ]
        for p in self.processes:
            if p.stdout.readline() != "READY\n":
                sys.exit("a worker did not start")
        prefix = [interpreter, *(["-m", "weft"] if on_weft else []), str(HERE / "cluster.py")]
        self.client = subprocess.Popen(
            [*prefix, "--client", cluster], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.processes.append(self.client)
        if self.client.stdout.readline() != "READY\n":
            sys.exit("a client did not start")
        self.cases = json.loads(self.client.stdout.readline())

    def measure(self, case):
        self.client.stdin.write(case + "\n")
        self.client.stdin.flush()
        return float(self.client.stdout.readline())

    def end(self):
        for p in self.processes:
            p.kill()
            p.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft")
    parser.add_argument("--tensorflow")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="part of a case's name")
    parser.add_argument("--client", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.client:
        return client(args.client)
    sides = {}
    try:
        if args.weft:
            sides["weft"] = Cluster(args.weft, True)
        if args.tensorflow:
            sides["tensorflow"] = Cluster(args.tensorflow, False)
        print(f"{'':28}" + "".join(f"{name:>16}" for name in sides) + ("   ratio" if len(sides) == 2 else ""))
        for case in next(iter(sides.values())).cases:
            if args.only and args.only not in case:
                continue
            taken = {name: [] for name in sides}
            for _ in range(args.rounds):
                for name, side in sides.items():
                    taken[name].append(side.measure(case))
            medians = [statistics.median(t) for t in taken.values()]
            ratio = f"{medians[1] / medians[0]:8.2f}" if len(medians) == 2 else ""
            print(f"{case:28}" + "".join(f"{m * 1e6:13.0f} us" for m in medians) + ratio, flush=True)
    finally:
        for side in sides.values():
            side.end()


os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
main()
