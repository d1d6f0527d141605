"""The tf.data service over processes: a dispatcher, two workers and clients.

data_service.py --weft PYTHON                        weft alone: data_program.py against what TensorFlow printed (data_program.out), servers that are killed
data_service.py --weft PYTHON --tensorflow PYTHON    all ways to mix TensorFlow and weft, killed servers included; --record writes data_program.out from TensorFlow alone
"""

import contextlib
import os
import subprocess
import sys
import tempfile

from tasks import HERE, asked, check_mixtures, command, compare, mixtures, play


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

    def restart(self):
        self.kill()
        self._args[1 if self._args[0] == "dispatcher" else 2] = self.address.split(":")[1]
        self.start()
        self.ready()


class Service:
    """A dispatcher and two workers."""

    def __init__(self, servers):
        self._servers = servers
        self.address = servers[0].address

    def restart(self, job, task):
        """For a program that asks for it."""
        self._servers[0 if job == "dispatcher" else 1 + task].restart()


@contextlib.contextmanager
def service(dispatcher, worker, work_dir=None):
    servers = [Server(dispatcher, "dispatcher", "0", *([work_dir] if work_dir else []))]
    try:
        servers[0].ready()
        servers += [Server(worker, "worker", servers[0].address, "0") for _ in range(2)]
        [s.ready() for s in servers[1:]]
        yield Service(servers)
    finally:
        [s.kill() for s in servers]


def played(dispatcher, worker, client):
    with tempfile.TemporaryDirectory() as folder, service(dispatcher, worker) as found:
        return play(client, "data_program.py", found.address, folder).result()


def faults(dispatcher, worker, client):
    """What a client prints whose worker, and whose dispatcher, is killed and started again while it reads."""
    with tempfile.TemporaryDirectory() as folder, service(dispatcher, worker, os.path.join(folder, "work")) as found:
        return play(client, "data_faults.py", found.address, folder, servers=found).result()


# A client prints the same with TensorFlow's dispatcher and workers.
FAULTS = """worker True True
dispatcher True
afterwards [0, 1, 2, 3, 4, 5, 6]
kept [0, 1, 2]
saved True
saved once
"""


args, sides = asked(__doc__)
roles = ["dispatcher", "workers", "client"]
bad = check_mixtures(args, sides, roles, HERE / "data_program.out", played)
for words, kinds in mixtures(sides, roles):
    if kinds != [sides.get("tensorflow")] * 3:
        bad += compare(f"servers killed and started again: {words}", FAULTS, faults(*kinds))
sys.exit(bad > 0)
