"""Training steps in the C++ API beside the golden models on the same engine, PyTorch and JAX: medians over rounds, and ratios.

    train_step.py --models GOLDEN_MODELS_DIR [--build build/release] [--torch PYTHON] [--jax PYTHON] [--rounds 3] [--threads 1]

PYTHON: an interpreter that has the package. Ratios are the peer's time over ours: more than one is good.
"""

import argparse
import collections
import pathlib
import statistics
import subprocess

from packages import need

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument(
    "--build", default="build/release", help="where the library was built; train_step.cc is compiled into it"
)
p.add_argument("--models", required=True)
p.add_argument("--torch")
p.add_argument("--jax")
p.add_argument("--rounds", type=int, default=3)
p.add_argument("--threads", type=int, default=1)
a = p.parse_args()
need("torch", python=a.torch)
need("jax", python=a.jax)
here, build = pathlib.Path(__file__).resolve().parent, pathlib.Path(a.build).resolve()
program, peers = str(build / "train_step"), str(here / "train_peers.py")
subprocess.run(
    [
        "g++",
        "-std=c++20",
        "-O1",
        f"-I{here.parent}/include",
        f"-I{build}/generated",
        str(here / "train_step.cc"),
        "-o",
        program,
        str(build / "src/libweft.so.1"),
        f"-Wl,-rpath,{build}/src",
    ],
    check=True,
)
commands = [[program, a.models, str(a.threads)]]
commands += [[python, peers, side, str(a.threads)] for python, side in ((a.torch, "torch"), (a.jax, "jax")) if python]
times = collections.defaultdict(list)
pin = ["taskset", "-c", ",".join(map(str, range(a.threads)))]
for _ in range(a.rounds):
    for command in commands:
        out = subprocess.run(pin + command, capture_output=True, text=True)
        if out.returncode:
            print(" ".join(command), "failed:", out.stderr[-300:])
        for line in out.stdout.splitlines():
            name, who, us = line.split()
            times[name, who].append(float(us))
ours = "weft-function"
for name in dict.fromkeys(n for n, _ in times):
    mine = statistics.median(times[name, ours])
    print(f"{name:22s} {ours} {mine:9.1f} us")
    for n, who in times:
        if n == name and who != ours:
            other = statistics.median(times[n, who])
            print(f"{'':22s} {who:14s} {other:9.1f} us  {other / mine:5.2f}")
