"""All-reduce between processes of this machine, beside TensorFlow.

    cluster_collectives.py --weft PYTHON [--tensorflow PYTHON] [--processes 2,4] [--bytes 1024,1048576] [--rounds 7]

One line a case: bytes, processes, the median microseconds of one all-reduce with weft's processes and with TensorFlow's, and how many times faster weft is. Both groups
are there all the time and take turns. PYTHON: an interpreter that has the package (weft: PYTHONPATH says where it is).
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time

SIZES = {1 << 10: 200, 1 << 20: 30, 64 << 20: 3}  # bytes: calls in a round


def member(cluster, task):
    """Does what the lines on standard input say: BYTES CALLS; answers with the seconds of one call."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf
    from tensorflow.core.protobuf import tensorflow_server_pb2

    cluster = json.loads(cluster)
    definition = tensorflow_server_pb2.ServerDef()
    definition.cluster.CopyFrom(tf.train.ClusterSpec(cluster).as_cluster_def())
    definition.job_name, definition.task_index, definition.protocol = "worker", int(task), "grpc"
    definition.default_session_config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    if "weft" in tf.__file__:
        from weft import _weft

        _weft.enable_collective_ops(definition.SerializeToString())
    else:
        from tensorflow.python.eager import context

        context.context().enable_collective_ops(definition)
    members = len(cluster["worker"])

    def reduction(key):
        @tf.function
        def reduce(x):
            return tf.raw_ops.CollectiveReduceV2(
                input=x,
                group_size=members,
                group_key=1,
                instance_key=key,
                ordering_token=[],
                merge_op="Add",
                final_op="Id",
            )

        return reduce

    cases = {size: (reduction(i + 1), tf.ones([size // 4])) for i, size in enumerate(SIZES)}
    print("READY", flush=True)
    for line in sys.stdin:
        size, calls = map(int, line.split())
        reduce, x = cases[size]
        begin = time.perf_counter()
        for _ in range(calls):
            got = reduce(x)
        got.numpy()
        print((time.perf_counter() - begin) / calls, flush=True)


class Group:
    def __init__(self, interpreter, on_weft, count):
        sockets = [socket.socket() for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        cluster = json.dumps({"worker": [f"localhost:{s.getsockname()[1]}" for s in sockets]})
        for s in sockets:
            s.close()
        command = [interpreter, *(["-m", "weft"] if on_weft else []), os.path.abspath(__file__), "member", cluster]
        self.members = [
            subprocess.Popen(
                [*command, str(i)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            for i in range(count)
        ]
        for m in self.members:
            if m.stdout.readline() != "READY\n":
                self.stop()
                sys.exit("a member did not start")

    def run(self, size, calls):
        """Seconds of one call, of the slowest member."""
        for m in self.members:
            m.stdin.write(f"{size} {calls}\n")
            m.stdin.flush()
        return max(float(m.stdout.readline()) for m in self.members)

    def stop(self):
        for m in self.members:
            m.kill()
            m.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--tensorflow")
    parser.add_argument("--processes", default="2,4")
    parser.add_argument("--bytes", default=",".join(map(str, SIZES)))
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    print(f"{'bytes':>10} {'processes':>9} {'weft us':>12} {'tensorflow us':>14} {'times faster':>12}")
    for count in map(int, args.processes.split(",")):
        groups = {"weft": Group(args.weft, True, count)}
        try:
            if args.tensorflow:
                groups["tensorflow"] = Group(args.tensorflow, False, count)
            for size in map(int, args.bytes.split(",")):
                calls = SIZES[size]
                seconds = {name: [] for name in groups}
                for name, g in groups.items():
                    g.run(size, max(1, calls // 4))  # functions are made, connections opened
                for _ in range(args.rounds):
                    for name, g in groups.items():
                        seconds[name].append(g.run(size, calls))
                weft, other = (statistics.median(seconds.get(n, [0])) * 1e6 for n in ("weft", "tensorflow"))
                print(f"{size:>10} {count:>9} {weft:>12.1f} {other:>14.1f} {other / weft:>12.2f}", flush=True)
        finally:
            for g in groups.values():
                g.stop()


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "member":
        member(*sys.argv[2:])
    else:
        main()
