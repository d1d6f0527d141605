"""Plays sessions.py with clients, masters and workers and compares what clients print; then kills workers in mid step.

    sessions_run.py --weft PYTHON                         weft as all three; what TensorFlow printed is in sessions.out
    sessions_run.py --weft PYTHON --tensorflow PYTHON     all eight combinations; --record writes sessions.out from TensorFlow alone

PYTHON: an interpreter that has the package (weft: PYTHONPATH says where it is).
"""

import argparse
import itertools
import json
import os
import pathlib
import subprocess
import sys
import time

from run import command
from tasks import free_ports

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 240


class Cluster:
    """Two workers; the first is the master of the clients' sessions."""

    def __init__(self, master, worker):
        self.kinds = (master, worker)
        self.text = json.dumps({"worker": [f"localhost:{p}" for p in free_ports(2)]})
        self.tasks = [self.start(i) for i in range(2)]

    def start(self, task):
        started = subprocess.Popen(
            command(*self.kinds[task], "worker.py", self.text, "worker", str(task)), stdout=subprocess.PIPE, text=True
        )
        line = started.stdout.readline()
        if line != "READY\n":
            sys.exit(f"a worker did not start: {line!r}")
        return started

    def kill(self, task):
        self.tasks[task].kill()
        self.tasks[task].wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for task in range(2):
            self.kill(task)


def play(client, master, worker):
    """What the client prints; all are (interpreter, is it weft)."""
    with Cluster(master, worker) as cluster:
        run = subprocess.run(
            command(*client, "sessions.py", cluster.text), capture_output=True, text=True, timeout=LIMIT
        )
        if run.returncode:
            print(run.stdout[-2000:], run.stderr[-4000:])
            sys.exit(f"the client ended with {run.returncode}")
        return run.stdout


def killed(client, master, worker):
    """A worker that dies in mid step: what sessions_killed.py prints, told when to kill and when to start again by its lines."""
    with Cluster(master, worker) as cluster:
        run = subprocess.Popen(
            command(*client, "sessions_killed.py", cluster.text),
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
            text=True,
        )
        printed = []
        try:
            for line in run.stdout:
                if line == "KILL\n":
                    time.sleep(0.5)  # the step waits by now
                    cluster.kill(1)
                elif line == "START\n":
                    cluster.tasks[1] = cluster.start(1)
                    run.stdin.write("\n")
                    run.stdin.flush()
                else:
                    printed.append(line)
            run.wait(LIMIT)
        finally:
            run.kill()
        return "".join(printed)


KILLED = """before 2.0
UnavailableError True soon
near 3.0
again AbortedError
new session 2.0
end
"""


def compare(what, expected, printed, begin):
    same = printed == expected
    print(f"{what}: {'agrees' if same else 'DIFFERS'} ({time.time() - begin:.1f} s)", flush=True)
    if not same:
        for a, b in itertools.zip_longest(expected.splitlines(), printed.splitlines()):
            if a != b:
                print("  expected", a, "\n  printed ", b)
    return not same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True, help="interpreter for weft")
    parser.add_argument("--tensorflow", help="interpreter that has TensorFlow")
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    sides = {"weft": (args.weft, True)}
    if args.tensorflow:
        sides["tensorflow"] = (args.tensorflow, False)
    recorded = HERE / "sessions.out"
    if args.record:
        recorded.write_text(play(*[sides["tensorflow"]] * 3))
    expected = recorded.read_text()
    bad = 0
    for kinds in itertools.product(sides, repeat=3):
        begin = time.time()
        what = "client {}, master {}, worker {}".format(*kinds)
        bad += compare(what, expected, play(*[sides[k] for k in kinds]), begin)
    for client, worker in itertools.product(sides, repeat=2):  # of weft's masters
        begin = time.time()
        what = f"client {client}, master weft, worker {worker} that is killed"
        bad += compare(what, KILLED, killed(sides[client], sides["weft"], sides[worker]), begin)
    sys.exit(bad)


os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
if __name__ == "__main__":
    main()
