#!/usr/bin/env python3
"""Steps of the golden networks by the number of threads: weft, several builds of it beside each other, PyTorch eager where it is installed, and when asked for PyTorch compiled and JAX.

    bench/threads.py --weft new=build/install/lib [--weft old=DIR] [--threads 1,2,4,8,16] [--batches 32,256] [--rounds 3] [--cases lstm/train,...]
                     [--torch PYTHON] [--torch-compiled] [--jax PYTHON] [--peer-threads 8,16]

On a machine with 16 cores, within two minutes; what there is no time for is left out, and every figure is printed as it comes:

    python3 bench/threads.py --weft build/release/src --batches 32 --rounds 1 --threads 1,8,16 --peer-threads 8,16 --jax python3 --seconds 120
    python3 bench/threads.py --weft build/release/src --batches 32 --rounds 1 --threads 8,16 --torch-compiled --seconds 240
    python3 bench/threads.py --weft build/release/src --batches 256 --rounds 1 --threads 1,8,16 --torch none --seconds 60      weft alone
    python3 bench/loops.py --weft build/release/src/libtensorflow.so --case transformer/train32 --case cnn_bn/train32 --case lstm/serve32 --threads 1,2,8,16 --ops --real
    build/release/tests/narrow_products_test && build/release/tests/bench_narrow_products      bfloat16 by AMX: whether right, and how fast

A DIR holds libtensorflow.so; engine_bench is built with cc unless --program names one that is there. All contenders run in turns, round after round: for
each case and number of threads one after the other, so that what else the machine does falls on all of them alike. Printed are the medians in microseconds, the
speed-up from one thread, at the end what got slower with more threads (more than 5 %), and how far ahead of the best peer each case is. No network is used.
A peer that takes longer than --peer-seconds for one number of threads is cut off; what it printed until then counts. PyTorch compiles for a
number of threads: all processes of it that are to be timed run once before, all at once, so that the code is in its cache (a folder that is removed).
"""

import argparse
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

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


PEERS = {"torch": "torch", "compiled": "torch-compile", "jax": "jax"}  # as train_peers.py names them


def start_peer(python, who, cases, batch, threads):
    call = [python, str(HERE / "train_peers.py"), PEERS[who], str(threads), str(batch), *cases]
    return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def end_peer(process, seconds):
    """What it printed within so many seconds."""
    try:
        return process.communicate(timeout=max(seconds, 0.1))[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]


def peer_times(python, who, cases, batch, threads, seconds):
    """All cases in one process: it takes seconds to start."""
    out = end_peer(start_peer(python, who, cases, batch, threads), seconds)
    lines = [line.split() for line in out.splitlines()]
    return {line[0].removesuffix(str(batch)): float(line[2]) for line in lines if len(line) == 3}


def compile_ahead(python, cases, batches, threads, seconds):
    end = time.monotonic() + seconds
    running = [start_peer(python, "compiled", [c], b, t) for c in cases for b in batches for t in threads]
    for process in running:
        end_peer(process, end - time.monotonic())


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
    a.add_argument("--torch-compiled", action="store_true", help="torch.compile beside it")
    a.add_argument("--jax", help="a Python that has JAX")
    a.add_argument("--peer-threads", help="numbers of threads that peers are timed with; all of --threads if not given")
    a.add_argument("--peer-seconds", type=float, default=60, help="for one peer with one number of threads")
    a.add_argument(
        "--seconds", type=float, default=1e9, help="nothing new is begun after this; what is known then is printed"
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
    batches = [int(b) for b in args.batches.split(",")]
    peer_threads = [int(t) for t in args.peer_threads.split(",")] if args.peer_threads else threads
    peers = {}
    if (
        args.torch != "none"
        and subprocess.run([args.torch, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0
    ):
        peers = {"torch": args.torch} | ({"compiled": args.torch} if args.torch_compiled else {})
    elif args.torch_compiled:
        raise SystemExit(f"{args.torch} has no PyTorch")
    if args.jax:
        peers["jax"] = args.jax
    names = list(libraries) + list(peers)
    seen = {}  # (contender, case, batch, threads): values
    end = time.monotonic() + args.seconds
    left = lambda: end - time.monotonic()

    def note(name, case, batch, t, values):
        seen.setdefault((name, case, batch, t), []).extend(values)
        for v in values:
            print(f"  {case}{batch} {name} {t} threads: {v:.0f} us", flush=True)

    def stop(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)  # `timeout` ends it so: print what there is
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = pathlib.Path(args.program).resolve() if args.program else build(folder)
            models = golden_models(folder)
            if "compiled" in peers:
                os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(pathlib.Path(folder) / "inductor")
                os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = (
                    "1"  # its pool of processes would outlive a process that is cut off
                )
                compile_ahead(args.torch, cases, batches, peer_threads, min(2 * args.peer_seconds, left() / 2))
            for round_number in range(args.rounds):
                for batch in batches:
                    # Those that are compared first.
                    for t in sorted(threads, key=lambda t: t not in peer_threads):
                        for case in cases:
                            for name, library in libraries.items():
                                if left() > 0:
                                    note(
                                        name,
                                        case,
                                        batch,
                                        t,
                                        weft_times(program, library, models, case, batch, t, args.ms, args.warm),
                                    )
                        for name, python in peers.items() if t in peer_threads else ():
                            if left() <= 0:
                                continue
                            for case, value in peer_times(
                                python, name, cases, batch, t, min(args.peer_seconds, left())
                            ).items():
                                note(name, case, batch, t, [value])
        except KeyboardInterrupt:
            print("stopped early")
    print(f"{os.cpu_count()} processors; microseconds, then speed-up from {threads[0]} thread(s)")
    print(
        f"{'case':20} {'':8}"
        + "".join(f"{t:>9}" for t in threads)
        + "   "
        + "".join(f"{'x' + str(t):>7}" for t in threads[1:])
    )
    slower, against = [], {}
    for batch in batches:
        for case in cases:
            for name in names:
                row = [statistics.median(v) if (v := seen.get((name, case, batch, t))) else None for t in threads]
                if not any(row):
                    continue
                text = "".join(f"{v:9.0f}" if v else f"{'-':>9}" for v in row)
                gains = "".join(f"{row[0] / v:7.2f}" if v and row[0] else f"{'-':>7}" for v in row[1:])
                print(f"{case + str(batch):20} {name:8}{text}   {gains}")
                for i, (u, v) in enumerate(zip(row, row[1:])):
                    if name in libraries and u and v and v > 1.05 * u:
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
    for t in peer_threads if peers else ():
        texts = []
        for batch in batches:
            for case in cases:
                theirs = [(v[case, batch], p) for p in peers if (case, batch) in (v := against.get((p, t), {}))]
                if theirs and (mine := against.get((first, t), {}).get((case, batch))):
                    texts.append(f"{case}{batch} {min(theirs)[0] / mine:.2f} ({min(theirs)[1]})")
        print(f"times as fast as the best peer with {t} threads: {', '.join(texts) or '-'}")
    print("slower with more threads: " + ("; ".join(slower) or "none"))


if __name__ == "__main__":
    main()
