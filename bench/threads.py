#!/usr/bin/env python3
"""Steps of the golden networks by the number of threads: weft, several builds of it beside each other, and PyTorch eager where it is installed.

    bench/threads.py --weft new=build/install/lib [--weft old=DIR] [--threads 1,2,4,8,16] [--batches 32,256] [--rounds 3] [--cases lstm/train,...] [--torch PYTHON]

A DIR holds libtensorflow.so; engine_bench is built with cc unless --program names one that is there. All contenders run in turns, round after round: for
each case and number of threads one after the other, so that what else the machine does falls on all of them alike. Printed are the medians in microseconds, the
speed-up from one thread, and at the end what got slower with more threads (more than 5 %). No network is used.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from run import build, geometric_mean, golden_models

HERE = pathlib.Path(__file__).resolve().parent
CASES = "mlp/train,cnn_bn/train,lstm/serve,lstm/train,transformer/serve,transformer/train"


def weft_times(program, library, models, case, batch, threads, ms, warm):
    name = f"{case}{batch}"
    call = [str(program), library, "-t", str(threads), "-m", str(models), "-c", name, "-b", str(batch), "-s", str(ms), "-w", str(warm)]  # fmt: skip
    out = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    values = [float(line.split()[1]) for line in out.stdout.splitlines() if line.split()[0] == name]
    if not values:
        print(f"{library} {name} {threads} threads: {out.stderr.strip()[-300:] or out.returncode}", file=sys.stderr)
    return values


def torch_times(python, cases, batch, threads):
    """All cases in one process: it takes seconds to start."""
    call = [python, str(HERE / "train_peers.py"), "torch", str(threads), str(batch), *cases]
    out = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=600).stdout
    return {line.split()[0].removesuffix(str(batch)): float(line.split()[2]) for line in out.splitlines()}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--weft", action="append", required=True, help="[NAME=]DIR")
    a.add_argument("--threads", default="1,2,4,8,16")
    a.add_argument("--batches", default="32,256")
    a.add_argument("--cases", default=CASES)
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument(
        "--ms", type=float, default=20, help="milliseconds of each of the nine batches that engine_bench times"
    )
    a.add_argument("--warm", type=float, default=0, help="seconds that each case runs before it is timed")
    a.add_argument(
        "--torch", default=sys.executable, help="a Python that has PyTorch; it is left out where that is not so"
    )
    a.add_argument("--program", help="engine_bench, already built")
    args = a.parse_args()
    cases, threads = args.cases.split(","), [int(t) for t in args.threads.split(",")]
    libraries = {}
    for number, text in enumerate(args.weft):
        name, _, folder = text.rpartition("=")
        libraries[name or f"weft{number + 1}" if len(args.weft) > 1 else name or "weft"] = str(
            pathlib.Path(folder).resolve() / "libtensorflow.so"
        )
    with_torch = subprocess.run([args.torch, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0
    names = list(libraries) + (["torch"] if with_torch else [])
    seen = {}  # (contender, case, batch, threads): values
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(args.program).resolve() if args.program else build(folder)
        models = golden_models(folder)
        for round_number in range(args.rounds):
            for batch in map(int, args.batches.split(",")):
                for t in threads:
                    for case in cases:
                        for name, library in libraries.items():
                            values = weft_times(program, library, models, case, batch, t, args.ms, args.warm)
                            seen.setdefault((name, case, batch, t), []).extend(values)
                    if with_torch:
                        for case, value in torch_times(args.torch, cases, batch, t).items():
                            seen.setdefault(("torch", case, batch, t), []).append(value)
            print(f"round {round_number + 1} of {args.rounds}", file=sys.stderr)
    print(f"{os.cpu_count()} processors; microseconds, then speed-up from {threads[0]} thread(s)")
    print(
        f"{'case':20} {'':8}"
        + "".join(f"{t:>9}" for t in threads)
        + "   "
        + "".join(f"{'x' + str(t):>7}" for t in threads[1:])
    )
    slower, against = [], {}
    for batch in map(int, args.batches.split(",")):
        for case in cases:
            for name in names:
                row = [statistics.median(v) if (v := seen.get((name, case, batch, t))) else None for t in threads]
                if not any(row):
                    continue
                text = "".join(f"{v:9.0f}" if v else f"{'-':>9}" for v in row)
                gains = "".join(f"{row[0] / v:7.2f}" if v and row[0] else f"{'-':>7}" for v in row[1:])
                print(f"{case + str(batch):20} {name:8}{text}   {gains}")
                for i, (u, v) in enumerate(zip(row, row[1:])):
                    if name != "torch" and u and v and v > 1.05 * u:
                        slower.append(f"{name} {case}{batch}: {u:.0f} with {threads[i]}, {v:.0f} with {threads[i + 1]}")
                for i, v in enumerate(row):
                    if v:
                        against.setdefault((name, threads[i]), {})[case, batch] = v
    first = names[0]
    for name in names[1:]:
        for t in threads:
            mine, theirs = against.get((first, t), {}), against.get((name, t), {})
            both = [theirs[c] / mine[c] for c in mine if c in theirs]
            if both:
                least = min((theirs[c] / mine[c], "".join(map(str, c))) for c in mine if c in theirs)
                print(
                    f"{first} is {geometric_mean(both):.2f} times as fast as {name} with {t} threads, least {least[0]:.2f} ({least[1]})"
                )
    print("slower with more threads: " + ("; ".join(slower) or "none"))


if __name__ == "__main__":
    main()
