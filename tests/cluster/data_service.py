"""The tf.data service over processes: a dispatcher, two workers and clients.

data_service.py --weft PYTHON                        weft alone: data_program.py against what TensorFlow printed (data_program.out), servers that are killed
data_service.py --weft PYTHON --tensorflow PYTHON    all ways to mix TensorFlow and weft; --record writes data_program.out from TensorFlow alone
"""

import argparse
import contextlib
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 240


def command(side, script, *args):
    interpreter, on_weft = side
    return [interpreter, *(["-m", "weft"] if on_weft else []), str(HERE / script), *args]


class Server:
    """A server in a process of its own, which can be killed and started again at the same port."""

    def __init__(self, side, *args):
        self._side, self._args = side, list(args)
        self._process, self.address = None, None
        self.start()

    def start(self):
        self._process = subprocess.Popen(
            command(self._side, "data_server.py", *self._args), stdout=subprocess.PIPE, text=True
        )

    def ready(self):
        line = self._process.stdout.readline().split()
        if line[:1] != ["READY"]:
            sys.exit(f"a server did not start: {self._args}")
        self.address = line[1]
        return self

    def kill(self):
        self._process.kill()
        self._process.wait()

    def restart(self, port_argument):
        self.kill()
        self._args[port_argument] = self.address.split(":")[1]
        self.start()
        self.ready()


@contextlib.contextmanager
def cluster(dispatcher, worker, work_dir=None):
    servers = [Server(dispatcher, "dispatcher", "0", *([work_dir] if work_dir else []))]
    try:
        servers[0].ready()
        servers += [Server(worker, "worker", servers[0].address, "0") for _ in range(2)]
        [s.ready() for s in servers[1:]]
        yield servers
    finally:
        [s.kill() for s in servers]


def play(dispatcher, worker, client):
    with tempfile.TemporaryDirectory() as folder, cluster(dispatcher, worker) as servers:
        run = subprocess.run(
            command(client, "data_program.py", servers[0].address, folder),
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        if run.returncode:
            print(run.stdout[-2000:], run.stderr[-4000:])
            sys.exit(f"the client ended with {run.returncode}")
        return run.stdout


def faults(side):
    """What a client prints whose worker, and whose dispatcher, is killed and started again while it reads."""
    with tempfile.TemporaryDirectory() as folder:
        with cluster(side, side, os.path.join(folder, "work")) as servers:
            client = subprocess.Popen(
                command(side, "data_faults.py", servers[0].address, folder),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            lines = []
            for line in client.stdout:
                if not line.startswith("PAUSE"):
                    lines.append(line)
                    continue
                time.sleep(1)  # nothing is on its way any more
                servers[1].restart(2) if line.split()[1] == "worker" else servers[0].restart(1)
                client.stdin.write("go\n")
                client.stdin.flush()
            client.wait(LIMIT)
            return "".join(lines)


FAULTS = """worker True True
dispatcher True
afterwards [0, 1, 2, 3, 4, 5, 6]
kept [0, 1, 2]
saved True
saved once
"""


def compare(label, printed, expected, begin):
    same = printed == expected
    print(f"{label}: {'agrees' if same else 'DIFFERS'} ({time.time() - begin:.1f} s)", flush=True)
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
    recorded = HERE / "data_program.out"
    if args.record:
        recorded.write_text(play(*[sides["tensorflow"]] * 3))
    expected, bad = recorded.read_text(), 0
    for names in itertools.product(sides, repeat=3):
        if args.tensorflow and names == ("tensorflow",) * 3:
            continue  # what was recorded
        begin = time.time()
        label = "dispatcher {}, workers {}, client {}".format(*names)
        bad += compare(label, play(*(sides[n] for n in names)), expected, begin)
    begin = time.time()
    bad += compare("servers killed and started again", faults(sides["weft"]), FAULTS, begin)
    sys.exit(bad)


os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
main()
