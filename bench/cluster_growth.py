"""How a cluster grows on this machine, from one process to many, weft beside TensorFlow.

    cluster_growth.py --weft PYTHON [--tensorflow PYTHON] [--processes 1,2,4,8,16] [--rounds 5] [--plot cluster_growth.svg]

For each number of processes: how many ops (additions of two numbers, each result read) and how many calls of a function (ten products of matrices of 256 rows, one thread) a client
gets done per second by so many workers, and the milliseconds of an all-reduce of 1 MB between so many processes. Prints a table; --plot draws it. PYTHON: an interpreter that has the
package (weft: PYTHONPATH says where it is).
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
sys.path[:0] = [str(HERE), str(HERE.parent / "tests" / "cluster")]
ONE_THREAD = {**os.environ, "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
CALLS, OPS = 8, 40  # of each worker in a round
BYTES = 1 << 20


def client(cluster):
    """Answers "ops" or "calls" with those that all workers did per second."""
    import tensorflow as tf

    cluster = json.loads(cluster)
    tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(cluster))
    devices = [f"/job:worker/replica:0/task:{i}/device:CPU:0" for i in range(len(cluster["worker"]))]

    @tf.function
    def work(x):
        for _ in range(10):
            x = tf.matmul(x, x) * 0.0039
        return tf.reduce_sum(x)

    inputs, numbers = [], []
    for d in devices:
        with tf.device(d):
            inputs.append(tf.ones([256, 256]))
            numbers.append(tf.constant(1.0))

    def calls():
        results = []
        for _ in range(CALLS):
            for d, x in zip(devices, inputs):
                with tf.device(d):
                    results.append(work(x))
        for r in results:
            r.numpy()
        return len(results)

    def ops():
        for _ in range(OPS):
            results = []
            for d, x in zip(devices, numbers):
                with tf.device(d):
                    results.append(x + x)
            for r in results:
                r.numpy()
        return OPS * len(devices)

    turns = {"ops": ops, "calls": calls}
    for turn in turns.values():
        turn()
    print("READY", flush=True)
    for line in sys.stdin:
        begin = time.perf_counter()
        done = turns[line.strip()]()
        print(done / (time.perf_counter() - begin), flush=True)


def per_second(interpreter, on_weft, count, rounds):
    """Ops and calls."""
    from tasks import cluster_of, command

    cluster = json.dumps(cluster_of(worker=count))
    processes = []

    def start(arguments, **more):
        processes.append(subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=ONE_THREAD, **more))
        return processes[-1]

    try:
        workers = [start(command((interpreter, on_weft), "worker.py", cluster, "worker", str(i))) for i in range(count)]
        for w in workers:
            if w.stdout.readline() != "READY\n":
                sys.exit("a worker did not start")
        module = ["-m", "weft"] if on_weft else []
        asked = start(
            [interpreter, *module, str(HERE / "cluster_growth.py"), "--client", cluster], stdin=subprocess.PIPE
        )
        if asked.stdout.readline() != "READY\n":
            sys.exit("a client did not start")
        rates = {"ops": [], "calls": []}
        for _ in range(rounds):
            for what, found in rates.items():
                asked.stdin.write(what + "\n")
                asked.stdin.flush()
                found.append(float(asked.stdout.readline()))
        return [statistics.median(found) for found in rates.values()]
    finally:
        for p in processes:
            p.kill()
            p.wait()


def reduce_ms(interpreter, on_weft, count, rounds):
    from cluster_collectives import Group

    group = Group(interpreter, on_weft, count)
    try:
        group.run(BYTES, 5)
        return statistics.median(group.run(BYTES, 10) for _ in range(rounds)) * 1e3
    finally:
        group.stop()


def chart(x0, title, unit, processes, lines):
    """One chart as SVG: processes to the right, by their logarithms, values upwards from 0."""
    width, height, top, left = 300, 180, 40, x0 + 60
    most = max(v for values in lines.values() for v in values if v) * 1.1
    right = {n: left + width * i / max(1, len(processes) - 1) for i, n in enumerate(processes)}
    out = [f'<text x="{left}" y="20" font-weight="bold">{title}</text>']
    for k in range(5):
        y = top + height - height * k / 4
        out.append(f'<line x1="{left}" y1="{y}" x2="{left + width}" y2="{y}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{most * k / 4:.3g}</text>')
    out += [f'<text x="{x}" y="{top + height + 18}" text-anchor="middle">{n}</text>' for n, x in right.items()]
    out.append(f'<text x="{left + width / 2}" y="{top + height + 36}" text-anchor="middle">processes ({unit})</text>')
    for (name, values), colour in zip(lines.items(), ("#1f77b4", "#d95f02")):
        points = [(right[n], top + height * (1 - v / most)) for n, v in zip(processes, values) if v]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        out.append(f'<text x="{points[-1][0] + 6:.1f}" y="{points[-1][1] + 4:.1f}" fill="{colour}">{name}</text>')
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft")
    parser.add_argument("--tensorflow")
    parser.add_argument("--processes", default="1,2,4,8,16")
    parser.add_argument("--most-tensorflow", type=int, default=16, help="its processes need half a gigabyte each")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--plot")
    parser.add_argument("--client", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.client:
        return client(args.client)
    processes = [int(n) for n in args.processes.split(",")]
    sides = {name: side for name, side in (("weft", args.weft), ("tensorflow", args.tensorflow)) if side}
    found = {name: [] for name in sides}  # (ops, calls, milliseconds) by number of processes
    print(f"{os.cpu_count()} processors")
    heads = ("ops/s", "calls/s", "ms")
    print(f"{'processes':>9}" + "".join(f"{f'{name} {head}':>20}" for name in sides for head in heads))
    for n in processes:
        for name, interpreter in sides.items():
            on_weft = name == "weft"
            if not on_weft and n > args.most_tensorflow:
                found[name].append((0, 0, 0))
                continue
            reduced = reduce_ms(interpreter, on_weft, n, args.rounds) if n > 1 else 0
            found[name].append((*per_second(interpreter, on_weft, n, args.rounds), reduced))
        print(f"{n:>9}" + "".join(f"{value:>20.2f}" for name in sides for value in found[name][-1]), flush=True)
    if args.plot:
        unit, body = f"{os.cpu_count()} processors", []
        titles = (
            "ops with their results per second",
            "calls of a function per second",
            "all-reduce of 1 MB, milliseconds",
        )
        for i, title in enumerate(titles):
            lines = {name: [row[i] for row in rows] for name, rows in found.items()}
            lines = {name: values for name, values in lines.items() if any(values)}
            body += chart(440 * i, title, unit, processes, lines)
        text = "\n".join(body)
        pathlib.Path(args.plot).write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="1340" height="270" font-family="sans-serif" font-size="12">\n'
            f'<rect width="1340" height="270" fill="white"/>\n{text}\n</svg>\n'
        )


if __name__ == "__main__":
    main()
