"""Signatures of the golden models run by the engine, compiled without being asked (WEFT_JIT=auto), and compiled at the first call (--jit), in turns: one thread, median latencies, ratios.

    jit.py --weft BUILD/src/cli/weft --models GOLDEN_MODELS_DIR [--rounds 3] [--only NAME ...] [--duration 0.4]

A ratio is the engine's time over that of the other: more than one is good. The run with WEFT_JIT=auto is four times as long, so that its median is that of the calls after the swap; "settled"
is what its log says of them. The time of compiling is printed too; the cache on disk is off.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--weft", required=True)
p.add_argument("--models", required=True, type=pathlib.Path)
p.add_argument("--rounds", type=int, default=3)
p.add_argument("--only", nargs="*", default=[])
p.add_argument("--duration", type=float, default=0.4)
a = p.parse_args()

WAYS = ("engine", "auto", "jit")


def run(way, model, signature, batch):
    """The median latency in microseconds, and the log."""
    duration = a.duration * (4 if way == "auto" else 1)
    command = ["taskset", "-c", "1", a.weft, "bench", str(model), "-s", signature, "--threads", "1", "--duration", str(duration), "--batch", str(batch), "--json"]  # fmt: skip
    environment = {**os.environ, "WEFT_CACHE_DIR": "off", "WEFT_JIT": "auto" if way == "auto" else "off"}
    done = subprocess.run(
        command + ["--jit"] * (way == "jit"), capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(done.stdout)["latency_s"]["p50"] * 1e6, done.stderr


ratios = {"auto": [], "jit": []}
for model in sorted(d for d in a.models.iterdir() if d.is_dir() and (not a.only or d.name in a.only)):
    for signature, batch in (("serving_default", 1), ("serving_default", 32), ("train", 32)):
        times, compiled, settled = {way: [] for way in WAYS}, 0, "nothing"
        for _ in range(a.rounds):
            for way in WAYS:
                time, log = run(way, model, signature, batch)
                times[way].append(time)
                compiled = max([compiled] + [int(ms) for ms in re.findall(r"compiled session in (\d+) ms", log)])
                if way == "auto":
                    settled = (re.findall(r"(?:runs compiled|stays with the engine): .*", log) or [settled])[-1]
        medians = {way: statistics.median(times[way]) for way in WAYS}
        for way, of in ratios.items():
            of.append(medians["engine"] / medians[way])
        name = f"{model.name}/{signature.split('_')[0]}{batch}"
        columns = "  ".join(f"{way} {medians[way]:9.1f} us" for way in WAYS)
        print(
            f"{name:24s} {columns}  auto {ratios['auto'][-1]:5.2f}  jit {ratios['jit'][-1]:5.2f}  compiled in at most {compiled} ms; {settled}",
            flush=True,
        )
for way, of in ratios.items():
    print(f"{way}: geometric mean {statistics.geometric_mean(of):.2f}, least {min(of):.2f}")
