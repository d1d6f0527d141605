"""examples/digits_workers.cc alone and by two and four processes: the same losses, since each step is that of the whole batch.

digits_workers.py PROGRAM WEFT DATA
"""

import re
import subprocess
import sys

program, weft, data = sys.argv[1:]


def losses(workers):
    command = [program, data] if workers == 1 else [weft, "launch", "-n", str(workers), program, data]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if run.returncode:
        sys.exit(f"{' '.join(command)} ended with {run.returncode}\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}")
    if f"{workers} workers read " not in run.stdout:
        sys.exit(f"{workers} workers: no result in\n{run.stdout}")
    return [float(x) for x in re.findall(r"epoch \d+, loss (\S+)", run.stdout)]


alone = losses(1)
if len(alone) != 4 or not alone[3] < alone[0] < 2.3:
    sys.exit(f"alone: {alone}")
for workers in (2, 4):
    together = losses(workers)
    # Sums in another order: differences of the last bit grow with the steps.
    if len(together) != 4 or any(abs(a - b) > 1e-3 * a for a, b in zip(alone, together)):
        sys.exit(f"{workers} workers: {together}, alone {alone}")
print(f"1, 2 and 4 workers agree: {alone}")
