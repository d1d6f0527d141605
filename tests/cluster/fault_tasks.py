"""Processes that faults come over: children of one process that has the package loaded, so that a hundred of them start quickly, and the proxy that cuts connections."""

import atexit
import collections
import ctypes
import json
import os
import pathlib
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback

HERE = pathlib.Path(__file__).resolve().parent
SILENCE = float(os.environ.get("WEFT_FAULTS_SILENCE", "2"))  # seconds until a silent task counts as dead
GRACE = float(os.environ.get("WEFT_FAULTS_GRACE", "2"))  # beyond the limit; a loaded machine may need more
HANG = 120  # nothing takes as long


def zygote():
    """Starts a child for each line, JSON of what fault_programs.py shall do; it talks to the test by a socket of its own."""
    import fault_programs

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("READY", flush=True)
    for line in sys.stdin:
        if os.fork():
            continue
        code = 1
        try:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: nobody outlives the test
            order = json.loads(line)
            link = socket.socket(socket.AF_UNIX)
            link.connect(order["report"])
            file = link.makefile("rw")
            print(os.getpid(), file=file, flush=True)
            getattr(fault_programs, order["program"])(
                lambda *words: print(*words, file=file, flush=True), file.readline, **order["with"]
            )
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)


class Child:
    """A process, by the socket that it has as long as it lives."""

    def __init__(self, link):
        self.link = link
        self.link.settimeout(HANG)
        self.file = link.makefile("rw")
        self.pid = int(self.file.readline())

    def say(self, line):
        print(line, file=self.file, flush=True)

    def hear(self):
        """Its next line; empty: it has ended."""
        try:
            return self.file.readline().rstrip("\n")
        except TimeoutError:
            raise AssertionError(f"process {self.pid} hangs") from None

    def signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.link.settimeout(None)
        try:
            while self.link.recv(1 << 16):  # until the process is gone
                pass
        except ConnectionResetError:  # it had not read all that it was told
            pass
        self.file.close()
        self.link.close()


class Children:
    def __init__(self, *prefix):
        self.folder = tempfile.TemporaryDirectory()
        self.listener = socket.socket(socket.AF_UNIX)
        self.path = os.path.join(self.folder.name, "s")
        self.listener.bind(self.path)
        self.listener.listen()
        self.listener.settimeout(HANG)
        command = [*prefix, sys.executable, "-m", "weft", str(HERE / "faults.py"), "--zygote"]
        self.zygote = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.zygote.stdout.readline() != "READY\n":
            sys.exit("the process that starts others did not start")
        self.all = []

    def start(self, program, **arguments):
        order = {"program": program, "with": arguments, "report": self.path}
        self.zygote.stdin.write(json.dumps(order) + "\n")
        self.zygote.stdin.flush()
        child = Child(self.listener.accept()[0])
        self.all.append(child)
        return child

    def serve(self, program, **arguments):
        """A child that serves, when it does."""
        child = self.start(program, **arguments)
        line = child.hear()
        if not line.startswith("serves"):
            sys.exit(f"{program} {arguments} did not start: {line!r}")
        child.told = line[len("serves") :].strip()
        return child

    def together(self, make, attempts=5):
        """Children that say "ready" when all are there; made again where one ended instead: its port was taken meanwhile."""
        members = make()
        waiting = {m.link: m for m in members}
        while waiting:
            for link in select.select(list(waiting), [], [], HANG)[0]:
                if waiting.pop(link).hear() != "ready":
                    assert attempts > 1, "the members of a group do not start"
                    for m in members:
                        self.end(m)
                    return self.together(make, attempts - 1)
        return members

    def end(self, child):
        child.kill()
        self.all.remove(child)

    def close(self):
        for child in list(self.all):
            self.end(child)
        self.zygote.kill()
        self.zygote.wait()
        self.zygote.stdin.close()
        self.zygote.stdout.close()
        self.listener.close()
        self.folder.cleanup()


class Servers:
    """Tasks of a cluster, at addresses that stay theirs when they are started again."""

    def __init__(self, children, **jobs):
        self.children = children
        ports = iter(lasting_ports(sum(jobs.values())))
        self.cluster = {job: [f"localhost:{next(ports)}" for _ in range(n)] for job, n in jobs.items()}
        self.running = {}
        for job, n in jobs.items():
            for i in range(n):
                self.start(job, i)

    def start(self, job, i):
        self.running[job, i] = self.children.serve("server", cluster=self.cluster, job=job, task=i)

    def kill(self, job, i):
        if (job, i) in self.running:
            self.children.end(self.running.pop((job, i)))

    def restart(self, job, i):
        self.kill(job, i)
        self.start(job, i)

    def close(self):
        for job, i in list(self.running):
            self.kill(job, i)


class Proxy:
    """Stands between the client and a worker; cut() ends all connections."""

    def __init__(self, target):
        self.target = target
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen()
        self.port = self.listener.getsockname()[1]
        self.pairs, self.open = [], 0
        self.lock = threading.Lock()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            here, _ = self.listener.accept()
            try:
                there = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                here.close()
                continue
            with self.lock:
                self.pairs.append((here, there))
                self.open += 1
            threading.Thread(target=self.pump, args=(here, there), daemon=True).start()

    def pump(self, here, there):
        try:
            while True:
                for s in select.select([here, there], [], [])[0]:
                    data = s.recv(1 << 16)
                    if not data:
                        return
                    (there if s is here else here).sendall(data)
        except (OSError, ValueError):
            pass
        finally:
            here.close()
            there.close()
            with self.lock:
                self.open -= 1

    def cut(self):
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for s in pair:
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass


class SmallDisk:
    """A disk of a few megabytes, mounted on a folder; `there` is False where this process may not mount one."""

    def __init__(self, folder, megabytes):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self._libc = ctypes.CDLL(None, use_errno=True)
        options = f"size={megabytes}m".encode()
        self.there = self._libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, options) == 0
        atexit.register(self.close)

    def fill(self, free):
        """Until so many bytes are left."""
        now = os.statvfs(self.folder)
        with open(os.path.join(self.folder, "filler"), "wb") as f:
            f.write(bytes(max(0, now.f_bavail * now.f_frsize - free)))

    def empty(self):
        os.remove(os.path.join(self.folder, "filler"))

    def close(self):
        if self.there:
            self._libc.umount2(os.fsencode(self.folder), 2)  # MNT_DETACH
            self.there = False


def lasting_ports(count):
    """Ports that are still free when a server starts again: not among those that the system gives to others meanwhile."""
    ports = []
    while len(ports) < count:
        port = random.SystemRandom().randrange(10000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        ports.append(port)
    return ports


def held(*pids):
    """Threads, descriptors and megabytes of these processes together."""
    threads = files = kilobytes = 0
    for pid in pids:
        threads += len(os.listdir(f"/proc/{pid}/task"))
        files += len(os.listdir(f"/proc/{pid}/fd"))
        with open(f"/proc/{pid}/status") as f:
            kilobytes += next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))
    return threads, files, kilobytes >> 10


def descriptors():
    """How many descriptors of each kind this process has."""
    kinds = collections.Counter()
    for fd in os.listdir("/proc/self/fd"):
        try:
            kinds[os.readlink(f"/proc/self/fd/{fd}").split(":")[0]] += 1
        except OSError:
            pass
    return dict(kinds)
