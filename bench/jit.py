"""Signatures of the golden models run by the engine and compiled just in time, in turns: one thread, median latencies, ratios.

    jit.py --weft BUILD/src/cli/weft --models GOLDEN_MODELS_DIR [--rounds 3]

A ratio is the engine's time over that of compiled code: more than one is good. The time of compiling is printed too.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--weft", required=True)
p.add_argument("--models", required=True, type=pathlib.Path)
p.add_argument("--rounds", type=int, default=3)
a = p.parse_args()
ratios = []
for model in sorted(d for d in a.models.iterdir() if d.is_dir()):
    for signature, batch in (("serving_default", 1), ("serving_default", 32), ("train", 32)):
        times, compiled = {False: [], True: []}, 0
        for _ in range(a.rounds):
            for jit in (False, True):
                command = [
                    "taskset",
                    "-c",
                    "1",
                    a.weft,
                    "bench",
                    str(model),
                    "-s",
                    signature,
                    "--threads",
                    "1",
                    "--duration",
                    "0.4",
                    "--batch",
                    str(batch),
                    "--json",
                ]
                done = subprocess.run(command + ["--jit"] * jit, capture_output=True, text=True, check=True)
                times[jit].append(json.loads(done.stdout)["latency_s"]["p50"] * 1e6)
                compiled = max(
                    [compiled] + [int(ms) for ms in re.findall(r"compiled session in (\d+) ms", done.stderr)]
                )
        engine, code = statistics.median(times[False]), statistics.median(times[True])
        ratios.append(engine / code)
        print(
            f"{model.name + '/' + signature.split('_')[0] + str(batch):24s} engine {engine:9.1f} us  compiled {code:9.1f} us  {engine / code:5.2f}   compiled in at most {compiled} ms",
            flush=True,
        )
print(f"geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}")
