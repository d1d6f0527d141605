"""Networks compiled ahead of time beside TFLite, JAX and PyTorch: one thread, medians over interleaved rounds, ratios.

    aot.py --weft BUILD/src/cli/weft --models GOLDEN_MODELS_DIR [--peers FOLDER_OF_PEERS.PY] [--torch PYTHON] [--jax PYTHON] [--tflite PYTHON] [--rounds 3]

PYTHON: an interpreter that has the package. FOLDER_OF_PEERS.PY holds peers.py and tflite_golden.py. A ratio is the best peer's time over ours: more than one is good.
"limit": arithmetic at 150 GFLOP/s, or the weights read once, as the table of the peers' folder gives it.
"""

import argparse
import collections
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from packages import need

need("numpy")
import numpy as np  # noqa: E402

LIMIT = {
    "mlp": (3, 43, 130),
    "cnn": (57, 1820, 5500),
    "cnn_bn": (69, 2200, 6700),
    "simple_rnn": (8, 70, 220),
    "lstm": (67, 950, 2900),
    "gru_text": (15, 200, 600),
    "transformer": (45, 1450, 4400),
}
KINDS = ("serve1", "serve32", "train32")
p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--weft", required=True)
p.add_argument("--models", required=True, type=pathlib.Path)
p.add_argument("--peers", type=pathlib.Path)
p.add_argument("--torch")
p.add_argument("--jax")
p.add_argument("--tflite")
p.add_argument("--rounds", type=int, default=3)
p.add_argument("--only", nargs="*", default=[])
a = p.parse_args()
need("numpy", "torch", python=a.torch)
need("numpy", "jax", python=a.jax)
need("numpy", "tensorflow", python=a.tflite)
here = pathlib.Path(__file__).resolve().parent.parent
sys.argv = ["run.py", a.weft, str(a.models), "unused"]
sys.path.insert(0, str(here / "tests/compiler/aot"))
import run as aot  # noqa: E402

names = [n for n in LIMIT if not a.only or n in a.only]
times = collections.defaultdict(list)
work = pathlib.Path(tempfile.mkdtemp())
for name in list(names):
    out = work / name
    out.mkdir()
    try:
        seconds = aot.compile_net(a.models / name, out, "native")
    except RuntimeError as e:
        print(f"{name}: {e}")
        names.remove(name)
        continue
    aot.link(a.models / name, out)
    data = np.load(a.models / f"{name}.npz")
    data["x"].tofile(out / "x.bin")
    data["y"].tofile(out / "y.bin")
    print(f"{name}: compiled in {seconds:.2f} s; object {(out / 'net.o').stat().st_size / 1000:.0f} kB", flush=True)


def ours():
    for name in names:
        for rows in (1, 32):
            done = subprocess.run(
                ["taskset", "-c", "1", str(work / name / "play"), "bench", str(work / name), str(rows)],
                capture_output=True,
                text=True,
                check=True,
            )
            for line in done.stdout.splitlines():
                kind, us = line.split()
                if kind == "serve" or rows == 32:
                    times[name, kind + str(rows), "weft"].append(float(us))


def peer(command):
    done = subprocess.run(command, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        words = line.split()
        if (
            len(words) >= 3
            and "/" in words[0]
            and words[0].split("/")[0] in names
            and words[2].replace(".", "").isdigit()
        ):
            name, kind = words[0].split("/")
            times[name, kind, words[1]].append(float(words[2]))


for _ in range(a.rounds):
    ours()
    if a.torch:
        peer([a.torch, str(a.peers / "peers.py"), "torch"])
    if a.jax:
        peer([a.jax, str(a.peers / "peers.py"), "jax"])
    if a.tflite:
        peer([a.tflite, str(a.peers / "tflite_golden.py"), str(a.models)])
shutil.rmtree(work)

who = sorted({w for _, _, w in times} - {"weft"})
print(
    f"{'microseconds':22s} {'weft':>9s}"
    + "".join(f" {w:>13s}" for w in who)
    + f" {'best/weft':>9s} {'weft/limit':>10s}"
)
ratios = []
for name in names:
    for i, kind in enumerate(KINDS):
        if (name, kind, "weft") not in times:
            continue
        mine = statistics.median(times[name, kind, "weft"])
        others = {w: statistics.median(times[name, kind, w]) for w in who if (name, kind, w) in times}
        ratio = min(others.values()) / mine if others else float("nan")
        ratios.append(ratio)
        print(
            f"{name + '/' + kind:22s} {mine:9.1f}"
            + "".join(f" {others[w]:13.1f}" if w in others else f" {'-':>13s}" for w in who)
            + f" {ratio:9.2f} {mine / LIMIT[name][i]:10.2f}"
        )
if ratios and ratios[0] == ratios[0]:
    print(
        f"ahead of the best in {sum(r >= 1 for r in ratios)} of {len(ratios)}; least {min(ratios):.2f}; geometric mean {statistics.geometric_mean(ratios):.2f}"
    )
