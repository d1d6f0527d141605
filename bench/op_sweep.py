"""The ops that programs use most (op_cases/) at several sizes under weft and TensorFlow, in turns: time of a call, ratios (the peer's time over ours).

    op_sweep.py [--weft PYTHON] [--tensorflow PYTHON] [--ops REGEX] [--sizes 64 16384 2097152] [--threads 1 2] [--rounds 3] [--gradients] [--csv FILE]

PYTHON: an interpreter that has the package (weft's is taken from build/python, or WEFT_PACKAGE). For each number of threads both packages run as processes that wait for
their turn: a case is timed in one, then in the other, round after round, and the median of the rounds counts. With one thread the time is that of the processor, so that
other programs on the machine count little; with more it is that of the clock on the wall. Printed are all cases, geometric means by size, and
what is below 1. `--gradients` times each case under a tape together with the gradient of its outputs instead; cases without one are left out.
Without --tensorflow our own times are printed; `--quick` calls each case twice and times nothing well, as the test does."""

import argparse
import csv
import math
import os
import re
import statistics
import sys
import time

from packages import Side, need

SIZES = [64, 16384, 2097152]


def seconds(call, least, clock):
    """Of one call: the best of three rows of calls, each of which takes `least` seconds or is one call."""

    def row(count):
        start = clock()
        for _ in range(count):
            call()
        return clock() - start

    call()
    count, took = 1, row(1)
    while took < least:
        count = max(count * 2, int(count * least / max(took, 1e-9)))
        took = row(count)
    return min([took] + [row(count) for _ in range(2 if least else 0)]) / count


def with_gradient(tf, name, n):
    """The case's call under a tape, and the gradient of the sum of its floating outputs by its floating inputs."""
    from op_cases import CASES

    seen = []
    real = tf.constant

    def constant(value, *rest):
        seen.append(real(value, *rest))
        return seen[-1]

    tf.constant = constant
    try:
        call = CASES[name](tf, n)
    finally:
        tf.constant = real
    sources = [t for t in seen if t.dtype.is_floating]
    if not sources:
        raise LookupError("no floating input")

    def run():
        with tf.GradientTape() as tape:
            for t in sources:
                tape.watch(t)
            out = call()
        out = [t for t in tf.nest.flatten(out) if t is not None and t.dtype.is_floating]
        return tape.gradient(out, sources)

    if all(g is None for g in run()):
        raise LookupError("no gradient")
    return run


def work(package, threads):
    """One side: reads `case n least gradient` from its input, answers with seconds or with why not."""
    import importlib

    from op_cases import CASES

    tf = importlib.import_module(package)
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    held = (None, None)  # the last case: made once for all its rounds
    print("ready", flush=True)
    for line in sys.stdin:
        name, n, least, gradient = line.rstrip("\n").split("\t")
        try:
            if held[0] != (name, n, gradient):
                held = (None, None)
                made = with_gradient(tf, name, int(n)) if gradient == "1" else CASES[name](tf, int(n))
                held = ((name, n, gradient), made)
            print(seconds(held[1], float(least), clock), flush=True)
        except Exception as e:  # of any kind: one case is lost, not the run
            print("error", " ".join(str(e).split())[:200] or type(e).__name__, flush=True)


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def sweep(a, threads, names, least):
    """Rows (case, n, our seconds, the peer's): the medians of the rounds."""
    limit = ["taskset", "-c", ",".join(map(str, sorted(os.sched_getaffinity(0))[:threads]))]
    sides = [
        Side(p, [*limit, *python.split(), __file__, "--work", p, "--threads", str(threads)])
        for p in ("weft", "tensorflow")
        if (python := getattr(a, p))
    ]
    table = []
    for n in a.sizes:
        for name in names:
            times = [[] for _ in sides]
            failed = None
            for turn in range(a.rounds):
                for k in range(len(sides)):
                    k = (k + turn) % len(sides)  # who goes first changes
                    got = sides[k].ask(name, n, least, int(a.gradients))
                    if isinstance(got, str):
                        failed = failed or (sides[k].process.args, got)
                    else:
                        times[k].append(got)
                if failed:
                    break
            if failed:
                package = "tensorflow" if "tensorflow" in failed[0] else "weft"
                if not (a.gradients and "no " in failed[1]):
                    print(f"{name:38s} {n:8d} {package}: {failed[1]}", flush=True)
                    table.append((name, n, None, None))
                continue
            ours, *peer = [statistics.median(t) for t in times]
            table.append((name, n, ours, peer[0] if peer else None))
            print(
                f"{name:38s} {n:8d} {ours * 1e6:12.2f} us"
                + (f"{peer[0] * 1e6:12.2f} us {peer[0] / ours:7.2f}" if peer else ""),
                flush=True,
            )
    for side in sides:
        side.close()
    return table


def summary(table, threads):
    done = [(name, n, peer / ours) for name, n, ours, peer in table if ours and peer]
    for n in sorted({n for _, n, _ in done}):
        ratios = [r for _, k, r in done if k == n]
        print(
            f"{threads} thread(s), {n} elements: {len(ratios)} cases, geometric mean {mean(ratios):.2f}, below 1: {sum(r < 1 for r in ratios)}"
        )
    if done:
        print(f"{threads} thread(s), all: {len(done)} cases, geometric mean {mean([r for *_, r in done]):.2f}")
    for name, n, r in sorted(done, key=lambda row: row[2]):
        if r < 1:
            print(f"  {r:5.2f}  {name} at {n}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--weft", default="build/venv/bin/python")
    p.add_argument("--tensorflow")
    p.add_argument("--ops", default="", help="a regular expression on the names of the cases")
    p.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    p.add_argument("--threads", type=int, nargs="+", default=[1])
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--least", type=float, default=0.01, help="seconds of a row of calls")
    p.add_argument("--gradients", action="store_true")
    p.add_argument("--quick", action="store_true")
    p.add_argument("--csv", help="writes the rows there")
    p.add_argument("--work", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.work:
        return work(a.work, a.threads[0])
    for name in ("weft", "tensorflow"):
        need("numpy", *([] if name == "weft" else [name]), python=getattr(a, name))
    from op_cases import CASES

    names = [name for name in CASES if re.search(a.ops, name)]
    if not names:
        sys.exit(f"op_sweep.py: no case is called {a.ops}")
    if a.quick:
        a.rounds = 1
    rows = []
    for threads in a.threads:
        table = sweep(a, threads, names, 0 if a.quick else a.least)
        summary(table, threads)
        rows += [(threads, *row) for row in table]
    if a.csv:
        with open(a.csv, "w", newline="") as f:
            csv.writer(f).writerows([("threads", "case", "elements", "weft_seconds", "tensorflow_seconds"), *rows])
    return 1 if any(row[3] is None for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
