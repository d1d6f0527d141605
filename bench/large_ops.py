#!/usr/bin/env python3
"""Times single ops of weft beside TensorFlow and PyTorch, in turn in one run, and prints how many times faster weft is.

    bench/large_ops.py --weft build/release/src/libtensorflow.so [--tensorflow libtensorflow_cc.so.2] [--torch PYTHON] [--threads 1]
    bench/large_ops.py --cases model_ops.txt ...     the ops of the golden models instead of the large ones

--torch names a Python that has PyTorch. Each library runs in a process of its own; every round gives each of them a short slice of
every case. Two figures a peer: the median over rounds, and the best slice against the best slice, which other work on the machine
disturbs least. Below 1.00 weft is slower.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

from packages import need

HERE = pathlib.Path(__file__).resolve().parent
N = 1 << 24

# name: op and words of op_bench.c; the same in PyTorch, or None.
LARGE = {
    "matmul 1024^3": ("MatMul f32[1024,1024] f32[1024,1024]", "a, b = r(1024, 1024), r(1024, 1024); f = lambda: a @ b"),
    "conv 3x3 64->64 32x56x56": (
        "Conv2D f32[32,56,56,64] f32[3,3,64,64] @strides=li:1,1,1,1 @padding=s:SAME",
        "x = r(32, 64, 56, 56).to(memory_format=torch.channels_last); w = r(64, 64, 3, 3).to(memory_format=torch.channels_last);"
        "f = lambda: F.conv2d(x, w, padding=1)",
    ),
    "softmax 16384x1024": ("Softmax f32[16384,1024]", "x = r(16384, 1024); f = lambda: torch.softmax(x, 1)"),
    "softmax 16x1M": ("Softmax f32[16,1048576]", "x = r(16, 1048576); f = lambda: torch.softmax(x, 1)"),
    "softmax 1Mx16": ("Softmax f32[1048576,16]", "x = r(1048576, 16); f = lambda: torch.softmax(x, 1)"),
}
for op, torch_op in (("Sum", "sum"), ("Mean", "mean"), ("Max", "amax")):
    LARGE[f"{op} 16M all"] = (
        f"{op} f32[{N}] i32=[1]:0",
        f"x = r({N}); f = lambda: torch.{torch_op}(x)" + ("" if op != "Max" else ""),
    )
    LARGE[f"{op} 4096x4096 rows"] = (
        f"{op} f32[4096,4096] i32=[1]:1",
        f"x = r(4096, 4096); f = lambda: torch.{torch_op}(x, 1)",
    )
    LARGE[f"{op} 4096x4096 columns"] = (
        f"{op} f32[4096,4096] i32=[1]:0",
        f"x = r(4096, 4096); f = lambda: torch.{torch_op}(x, 0)",
    )
for op, torch_op in (
    ("Tanh", "tanh"),
    ("Erf", "erf"),
    ("Sigmoid", "sigmoid"),
    ("Exp", "exp"),
    ("Rsqrt", "rsqrt"),
    ("Log", "log"),
    ("Sqrt", "sqrt"),
):
    kind = "pos" if op in ("Rsqrt", "Log", "Sqrt") else "f32"
    LARGE[f"{op} 1M"] = (
        f"{op} {kind}[1048576]",
        f"x = r(1048576) + {1 if kind == 'pos' else 0}; f = lambda: torch.{torch_op}(x)",
    )
LARGE["Add 16M"] = (f"AddV2 f32[{N}] f32[{N}]", f"x, y = r({N}), r({N}); f = lambda: x + y")
LARGE["SpaceToBatchND"] = ("SpaceToBatchND f32[32,56,56,64] i32=[2]:2,2 i32=[2,2]:0,0,0,0", None)
LARGE["BroadcastTo 1M"] = (
    "BroadcastTo f32[1,1024] i32=[2]:1024,1024",
    "x = r(1, 1024); f = lambda: x.expand(1024, 1024).contiguous()",
)
LARGE["BroadcastTo 1M inner"] = (
    "BroadcastTo f32[1024,1] i32=[2]:1024,1024",
    "x = r(1024, 1); f = lambda: x.expand(1024, 1024).contiguous()",
)
LARGE["Range i32 1M"] = (
    "Range i32=[]:0 i32=[]:1048576 i32=[]:1",
    "f = lambda: torch.arange(0, 1048576, 1, dtype=torch.int32)",
)
LARGE["Transpose 2048^2"] = (
    "Transpose f32[2048,2048] i32=[2]:1,0",
    "x = r(2048, 2048); f = lambda: x.t().contiguous()",
)

TORCH = """
import sys, time, torch, torch.nn.functional as F
torch.set_num_threads(int(sys.argv[1])); torch.set_grad_enabled(False)
def r(*shape): return torch.rand(*shape) - 0.5
cases = []
for line in sys.stdin:
    word, _, rest = line.rstrip("\\n").partition(" ")
    if word == "add":
        try:
            names = dict(globals()); exec(rest, names); names["f"](); cases.append(names["f"]); print(len(cases) - 1)
        except Exception as e: print("error", str(e).replace("\\n", " "))
    elif word == "time":
        which, budget = rest.split(); f = cases[int(which)]; f(); calls = 0; start = time.perf_counter()
        while (spent := time.perf_counter() - start) < float(budget) * 1e-6 or not calls: f(); calls += 1
        print((time.perf_counter() - start) / calls * 1e6)
    sys.stdout.flush()
"""


class Peer:
    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def read_cases(path):
    """One case a line: a name, the op and its words, and the networks that run it (part*times), between tabs."""
    rows = [line.rstrip("\n").split("\t") for line in open(path) if line.strip() and line[0] != "#"]
    uses = {
        row[0]: {use.split("*")[0]: int(use.split("*")[1]) for use in row[2].split()} for row in rows if len(row) > 2
    }
    return {row[0]: (row[1], None) for row in rows}, uses


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--weft", required=True)
    a.add_argument("--tensorflow")
    a.add_argument("--torch", help="a Python with PyTorch")
    a.add_argument("--other", help="another build of weft, to compare with")
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("--rounds", type=int, default=9)
    a.add_argument("--slice", type=float, default=20, help="milliseconds of a case in a round (at least one call)")
    a.add_argument("--cases", help="a file of cases; default: the large ops")
    a.add_argument("--only", default="", help="only cases whose name holds this; several separated by |")
    args = a.parse_args()
    need("torch", python=args.torch)
    cases, uses = (
        read_cases(args.cases if pathlib.Path(args.cases).exists() else HERE / args.cases)
        if args.cases
        else (LARGE, {})
    )
    cases = {name: case for name, case in cases.items() if any(part in name for part in args.only.split("|"))}
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "op_bench"
        subprocess.run(
            [
                "cc",
                "-O2",
                "-w",
                "-I",
                str(HERE.parent / "include"),
                str(HERE / "op_bench.c"),
                "-ldl",
                "-o",
                str(program),
            ],
            check=True,
        )
        peers = {"weft": Peer([program, args.weft, str(args.threads)])}
        if args.other:
            peers["other"] = Peer([program, args.other, str(args.threads)])
        if args.tensorflow:
            peers["tensorflow"] = Peer([program, args.tensorflow, str(args.threads)])
        if args.torch:
            peers["torch"] = Peer([args.torch, "-c", TORCH, str(args.threads)])
        others = list(peers)[1:]
        print(
            f"{'case':40} {'weft us':>11}"
            + "".join(f" {name + ' us':>14} {'median':>7} {'best':>6}" for name in others),
            flush=True,
        )
        worst, totals = {}, {}
        for name, (words, torch_words) in cases.items():
            ids, seen = {}, {peer: [] for peer in peers}
            for peer, process in peers.items():
                text = torch_words if peer == "torch" else words
                if text is None:
                    continue
                answer = process.ask("add " + text)
                if answer.isdigit():
                    ids[peer] = answer
                else:
                    print(f"{name}: {peer}: {answer}", file=sys.stderr)
            for _ in range(args.rounds):
                for peer, number in ids.items():
                    seen[peer].append(float(peers[peer].ask(f"time {number} {args.slice * 1000}")))
            if "weft" not in ids:
                continue
            for part, times in uses.get(name, {}).items():
                total = totals.setdefault(part, dict.fromkeys(peers, 0.0))
                for peer in peers:
                    total[peer] += times * min(seen[peer] or seen["weft"])
            line = f"{name:40} {statistics.median(seen['weft']):11.2f}"
            for peer in others:
                if not seen[peer]:
                    line += f" {'-':>14} {'-':>7} {'-':>6}"
                    continue
                middle = statistics.median(seen[peer]) / statistics.median(seen["weft"])
                best = min(seen[peer]) / min(seen["weft"])
                worst[name] = min(worst.get(name, best), best)
                line += f" {statistics.median(seen[peer]):14.2f} {middle:7.2f} {best:6.2f}"
            print(line + ("  <" if worst.get(name, 1) < 1 else ""), flush=True)
        for part, total in totals.items():
            print(
                f"sum of {part:33} {total['weft']:11.2f}"
                + "".join(f" {total[peer]:14.2f} {'':7} {total[peer] / total['weft']:6.2f}" for peer in others)
            )
        slower = sorted((ratio, name) for name, ratio in worst.items() if ratio < 1)
        print(
            f"{len(worst)} cases, {len(slower)} slower than the best peer"
            + "".join(f"\n  {ratio:.2f} {name}" for ratio, name in slower)
        )


if __name__ == "__main__":
    main()
