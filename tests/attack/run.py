"""The long form of every driver in this folder, one after the other, each with an equal share of the time:

    python3 tests/attack/run.py --minutes 30 --build build/release

`make attack` is this. A seed from the clock is printed, so that each run tries something new and can be repeated by --seed."""

import argparse
import glob
import os
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--minutes", type=float, default=30, help="for all drivers together (default 30)")
parser.add_argument("--seed", type=int, default=int(time.time()), help="the first seed of each (default: the clock)")
parser.add_argument("--build", default="build/release", help="the build folder (default build/release)")
parser.add_argument("names", nargs="*", help="only these drivers, as in `exit fork`")
options = parser.parse_args()

drivers = sorted(glob.glob(os.path.join(here, "*_attack.py")))
known = [os.path.basename(d).removesuffix("_attack.py") for d in drivers]
for name in options.names:
    if name not in known:
        sys.exit(f"no driver {name}; there are {', '.join(known)}")
chosen = [(n, d) for n, d in zip(known, drivers) if not options.names or n in options.names]
share = options.minutes * 60 / max(1, len(chosen))
print(f"{len(chosen)} drivers, {share:.0f} s each, seed {options.seed}", flush=True)
package = os.path.join(os.path.dirname(os.path.abspath(options.build)), "python")
env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in (package, os.environ.get("PYTHONPATH")) if p)}
failed = []
for i, (name, driver) in enumerate(chosen):
    print(f"[{i + 1}/{len(chosen)}] {name}", flush=True)
    code = subprocess.call(
        [sys.executable, driver, "--seed", str(options.seed), "--seconds", f"{share:.0f}", "--build", options.build],
        env=env,
    )
    if code:
        failed.append(name)
print("failed: " + ", ".join(failed) if failed else "nothing died, hung or gave a wrong answer")
sys.exit(1 if failed else 0)
