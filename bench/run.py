#!/usr/bin/env python3
"""Times weft, and TensorFlow beside it in the same run, on the same work.

    bench/run.py --weft build/install/lib/libtensorflow.so [--tensorflow libtensorflow_cc.so.2] [--models] [--threads 1] [--rounds 5]

Builds engine_bench (a C program that dlopens the library it is given), runs it for each library in turn, round after
round, and prints the median of each case and the ratio, then the peak memory of the runs. With --models the golden networks
are loaded, served and trained too, and the geometric means of the ratios follow. Machines are noisy: look at ratios.
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def build(folder):
    out = pathlib.Path(folder) / "engine_bench"
    subprocess.run(
        [
            "cc",
            "-O2",
            "-w",
            "-I",
            str(HERE.parent / "include"),
            str(HERE / "engine_bench.c"),
            "-ldl",
            "-lm",
            "-o",
            str(out),
        ],
        check=True,
    )
    return out


def golden_models(folder):
    with tarfile.open(HERE.parent / "tests/models/saved/models.tar.xz") as t:
        t.extractall(folder)
    return pathlib.Path(folder) / "models"


def run(program, library, args, models):
    """Median microseconds by case, and the peak memory of the process in MB."""
    call = (
        [str(program), library, "-t", str(args.threads), "-w", str(args.warm)]
        + (["-c", args.case] if args.case else [])
        + (["-m", str(models)] if models else [])
    )
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    out = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    return {name: float(value) for name, value in (line.split() for line in out.splitlines())}, usage.ru_maxrss / 1024


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--weft", required=True, help="weft's library")
    a.add_argument("--tensorflow", help="TensorFlow's library (libtensorflow_cc.so.2 of the pip package)")
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--warm", type=float, default=0, help="seconds that each case runs before it is timed")
    a.add_argument("--case", help="only cases that start with this")
    a.add_argument("--models", action="store_true", help="the golden networks too (tests/models/saved/models.tar.xz)")
    args = a.parse_args()
    libraries = {"weft": args.weft} | ({"tensorflow": args.tensorflow} if args.tensorflow else {})
    seen = {name: {} for name in libraries}
    memory = {name: [] for name in libraries}
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        models = golden_models(folder) if args.models else None
        for round_number in range(args.rounds):
            for name, path in libraries.items():
                if sys.stderr.isatty():
                    print(f"\rround {round_number + 1} of {args.rounds}: {name}   ", end="", file=sys.stderr)
                times, peak = run(program, path, args, models)
                memory[name].append(peak)
                for case, value in times.items():
                    seen[name].setdefault(case, []).append(value)
    if sys.stderr.isatty():
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    print(f"{'case':22} {'weft us':>12}" + (f" {'tensorflow us':>14} {'times faster':>13}" if args.tensorflow else ""))
    ratios = {}
    for case, values in seen["weft"].items():
        ours = statistics.median(values)
        line = f"{case:22} {ours:12.3f}"
        if theirs := seen.get("tensorflow", {}).get(case):
            ratios[case] = statistics.median(theirs) / ours
            line += f" {statistics.median(theirs):14.3f} {ratios[case]:13.1f}"
        print(line)
    for what, cases in (
        ("model load", [c for c in ratios if c.endswith("/load")]),
        ("serving and training", [c for c in ratios if "/serve" in c or "/train" in c]),
    ):
        if cases:
            least = min(cases, key=ratios.get)
            print(
                f"{what}: {geometric_mean([ratios[c] for c in cases]):.2f} times at the geometric mean, least {ratios[least]:.2f} ({least})"
            )
    print("peak memory: " + ", ".join(f"{name} {statistics.median(v):.0f} MB" for name, v in memory.items()))


if __name__ == "__main__":
    main()
