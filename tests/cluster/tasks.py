"""Processes of a cluster on this machine, for the tests of this folder: servers that can be killed and started again, and programs that
ask for that by lines on their output (`@kill worker 0`, `@start worker 0`), answered by a line on their input. A test names the interpreters of
weft and TensorFlow; what TensorFlow printed is recorded."""

import argparse
import itertools
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = float(os.environ.get("WEFT_PLAY_SECONDS", 300))  # of a program; a busy machine needs more
recording = False  # what is printed is kept: it must be whole


def asked(doc, **more):
    """The arguments of a test, and (interpreter, whether it runs weft) for each that is named; `more` are numbers with their defaults."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True, help="interpreter for weft; PYTHONPATH says where the package is")
    parser.add_argument("--tensorflow", help="interpreter that has TensorFlow")
    parser.add_argument("--record", action="store_true", help="writes what TensorFlow prints")
    for name, default in more.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    global recording
    recording = args.record
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sides = {"weft": (args.weft, True)}
    if args.tensorflow:
        sides["tensorflow"] = (args.tensorflow, False)
    return args, sides


def mixtures(sides, roles):
    """Every way to have the roles played by the sides: (in words, their sides)."""
    for names in itertools.product(sides, repeat=len(roles)):
        yield ", ".join(f"{r} {n}" for r, n in zip(roles, names)), [sides[n] for n in names]


def check_mixtures(args, sides, roles, recorded, played, again=False, part=None, label=""):
    """How many lines differ from the file `recorded` where `played` has the sides in all ways; writes it first where that is asked for.

    TensorFlow alone is what was recorded, and is played only `again`. `part(text, kinds)`: what of the file these sides print.
    """
    alone = [sides.get("tensorflow")] * len(roles)
    if args.record:
        recorded.write_text(played(*alone))
    bad = 0
    for words, kinds in mixtures(sides, roles):
        if kinds == alone and not again:
            continue
        begin, expected = time.time(), recorded.read_text()
        if part:
            expected = part(expected, kinds)
        bad += compare(label + words, expected, played(*kinds))
        print(f"  {time.time() - begin:.1f} s", flush=True)
    return bad


def sections_of(text):
    """The names of a program's sections (`== name`)."""
    return re.findall(r"^== (\w+)$", text, re.MULTILINE)


def without_sections(text, names):
    """What a program prints that does not play these sections."""
    return re.sub(rf"^== (?:{'|'.join(names)})\n(?:(?!== |end$).*\n)*", "", text, flags=re.MULTILINE)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def cluster_of(**jobs):
    """Addresses for so many tasks of each job."""
    ports = iter(free_ports(sum(jobs.values())))
    return {job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in jobs.items()}


def command(side, script, *args):
    """`side`: (interpreter, whether it runs weft)."""
    interpreter, on_weft = side
    return [interpreter, *(["-m", "weft"] if on_weft else []), str(HERE / script), *args]


class Servers:
    """Tasks that serve until they are killed; `sides`: theirs, by number, the last one for all that follow."""

    def __init__(self, cluster, *sides):
        self._sides, self._cluster, self._running = sides, cluster, {}

    def __enter__(self):
        for job, tasks in self._cluster.items():
            for i in range(len(tasks)):
                self._launch(job, i)
        for job, i in self._running:
            self._ready(job, i)
        return self

    def __exit__(self, *error):
        for job, i in list(self._running):
            self.kill(job, i)

    def start(self, job, i):
        self._launch(job, i)
        self._ready(job, i)

    def kill(self, job, i):
        process = self._running.pop((job, i))
        process.kill()
        process.wait()

    def _launch(self, job, i):
        side = self._sides[min(i, len(self._sides) - 1)]
        call = command(side, "worker.py", json.dumps(self._cluster), job, str(i))
        self._running[job, i] = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def _ready(self, job, i):
        line = self._running[job, i].stdout.readline()
        if line != "READY\n":
            sys.exit(f"task {i} of job {job} did not start: {line!r}")


def play(side, script, *args, servers=None, env=None):
    """What a program prints, with the lines that ask for something done and left out."""
    process = subprocess.Popen(
        command(side, script, *args),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    )
    return _Played(process, servers)


class _Played:
    """A program that runs; result() waits for it."""

    def __init__(self, process, servers):
        self._process, self._servers, self._printed, self._errors = process, servers, [], []
        self._threads = [threading.Thread(target=f, daemon=True) for f in (self._read, self._read_errors)]
        self._timer = threading.Timer(LIMIT, process.kill)
        for t in (*self._threads, self._timer):
            t.daemon = True
            t.start()

    def _read(self):
        for line in self._process.stdout:
            if not line.startswith("@"):
                self._printed.append(line)
                continue
            what, job, task = line[1:].split()
            getattr(self._servers, what)(job, int(task))
            self._process.stdin.write("done\n")
            self._process.stdin.flush()

    def _read_errors(self):
        self._errors.extend(self._process.stderr)

    def kill(self):
        self._process.kill()

    def code(self):
        return self._process.returncode

    def result(self, fails=False):
        """What it printed; where it did not end well, unless that is expected, with a line that says so: the test goes on with what follows."""
        self._process.wait()
        self._timer.cancel()
        for t in self._threads:
            t.join(10)
        printed = "".join(self._printed)
        if self._process.returncode and not fails:
            end = f"{self._process.args} ended with {self._process.returncode}"
            print(printed[-3000:], "".join(self._errors)[-6000:], end, flush=True)
            if recording:
                sys.exit(end)
            printed += f"ended with {self._process.returncode}\n"
        return printed


def ask(what, job, task):
    """In a program: has the test do something with a server, and waits for it."""
    print(f"@{what} {job} {task}", flush=True)
    sys.stdin.readline()


NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def same(a, b, tolerance):
    """Whether lines are equal, their numbers up to the tolerance."""
    if a == b:
        return True
    pairs = zip(NUMBER.findall(a), NUMBER.findall(b))
    return NUMBER.sub("#", a) == NUMBER.sub("#", b) and all(abs(float(x) - float(y)) <= tolerance for x, y in pairs)


def compare(name, expected, printed, tolerance=0.0):
    """How many lines differ; says so."""
    lines = zip(expected.splitlines(), printed.splitlines())
    differ = [(a, b) for a, b in lines if not same(a, b, tolerance)]
    differ += [("", line) for line in printed.splitlines()[len(expected.splitlines()) :]]
    differ += [(line, "") for line in expected.splitlines()[len(printed.splitlines()) :]]
    print(f"{name}: {'agrees' if not differ else 'DIFFERS'}", flush=True)
    for a, b in differ:
        print("  expected", a, "\n  printed ", b)
    return len(differ)
