"""Plays program.py on clusters of two workers and compares what clients print.

    run.py --weft PYTHON                         weft as client and workers; what TensorFlow printed is in program.out
    run.py --weft PYTHON --tensorflow PYTHON     all four pairings; --record writes program.out from TensorFlow with TensorFlow

PYTHON: an interpreter that has the package (weft: PYTHONPATH says where it is).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

from tasks import free_ports

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 300


def command(interpreter, on_weft, script, *args):
    return [interpreter, *(["-m", "weft"] if on_weft else []), str(HERE / script), *args]


def play(client, worker):
    """What the client prints; `client` and `worker` are (interpreter, is it weft)."""
    cluster = json.dumps({"worker": [f"localhost:{p}" for p in free_ports(2)]})
    workers = [
        subprocess.Popen(command(*worker, "worker.py", cluster, "worker", str(i)), stdout=subprocess.PIPE, text=True)
        for i in range(2)
    ]
    try:
        for w in workers:
            line = w.stdout.readline()
            if line != "READY\n":
                sys.exit(f"a worker did not start: {line!r}")
        run = subprocess.run(command(*client, "program.py", cluster), capture_output=True, text=True, timeout=LIMIT)
        if run.returncode:
            print(run.stdout[-2000:], run.stderr[-4000:])
            sys.exit(f"the client ended with {run.returncode}")
        return run.stdout
    finally:
        for w in workers:
            w.kill()
            w.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True, help="interpreter for weft")
    parser.add_argument("--tensorflow", help="interpreter that has TensorFlow")
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    sides = {"weft": (args.weft, True)}
    if args.tensorflow:
        sides["tensorflow"] = (args.tensorflow, False)
    recorded = HERE / "program.out"
    if args.record:
        recorded.write_text(play(sides["tensorflow"], sides["tensorflow"]))
    expected = recorded.read_text()
    bad = 0
    for client, c in sides.items():
        for worker, w in sides.items():
            begin = time.time()
            printed = play(c, w)
            same = printed == expected
            bad += not same
            print(f"{client} with {worker} workers: {'agrees' if same else 'DIFFERS'} ({time.time() - begin:.1f} s)")
            if not same:
                for a, b in zip(expected.splitlines(), printed.splitlines()):
                    if a != b:
                        print("  expected", a, "\n  printed ", b)
    sys.exit(bad)


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main()
