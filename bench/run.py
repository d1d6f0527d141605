#!/usr/bin/env python3
"""Times weft, and TensorFlow beside it in the same run, on the same work.

    bench/run.py --weft build/install/lib/libtensorflow.so [--tensorflow libtensorflow_cc.so.2] [--threads 1] [--rounds 5]

Builds engine_bench (a C program that dlopens the library it is given), runs it for each library in turn, round after
round, and prints the median of each case and the ratio. Machines are noisy: look at ratios.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def build(folder):
    out = pathlib.Path(folder) / "engine_bench"
    subprocess.run(["cc", "-O2", "-w", "-I", str(HERE.parent / "include"), str(HERE / "engine_bench.c"), "-ldl", "-lm", "-o", str(out)], check=True)
    return out


def run(program, library, args):
    call = [str(program), library, "-t", str(args.threads)] + (["-c", args.case] if args.case else [])
    done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--weft", required=True, help="weft's library")
    a.add_argument("--tensorflow", help="TensorFlow's library (libtensorflow_cc.so.2 of the pip package)")
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--case", help="only cases that start with this")
    args = a.parse_args()
    libraries = {"weft": args.weft} | ({"tensorflow": args.tensorflow} if args.tensorflow else {})
    seen = {name: {} for name in libraries}
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        for round_number in range(args.rounds):
            for name, path in libraries.items():
                if sys.stderr.isatty():
                    print(f"\rround {round_number + 1} of {args.rounds}: {name}   ", end="", file=sys.stderr)
                for case, value in run(program, path, args).items():
                    seen[name].setdefault(case, []).append(value)
    if sys.stderr.isatty():
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    print(f"{'case':22} {'weft us':>12}" + (f" {'tensorflow us':>14} {'times faster':>13}" if args.tensorflow else ""))
    for case, values in seen["weft"].items():
        ours = statistics.median(values)
        line = f"{case:22} {ours:12.3f}"
        if theirs := seen.get("tensorflow", {}).get(case):
            line += f" {statistics.median(theirs):14.3f} {statistics.median(theirs) / ours:13.1f}"
        print(line)


if __name__ == "__main__":
    main()
