"""Workers that die, stop or cannot be reached while a client waits for them: faults.py [--rounds 3] [--seed 1] [--kind KIND]

In each round worker 0 is asked for something that takes for ever, by an op or by a function over both workers, and is then killed, stopped (SIGSTOP), or
cut off. The client must have an error that names the task within two seconds of the limit, worker 1 must go on with all that it has, and a worker that
was started again must be usable. At the end the client has no more threads and descriptors than at the beginning.
"""

import argparse
import collections
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
SILENCE = float(os.environ.get("WEFT_FAULTS_SILENCE", "2"))  # seconds until a silent task counts as dead; the same
GRACE = float(os.environ.get("WEFT_FAULTS_GRACE", "2"))  # beyond the limit; a loaded machine may need more
W = ["/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"]


def zygote():
    """Starts a worker for each line "PORTS TASK CLUSTER": a copy of this process, which has the package loaded already."""
    import weft as tf

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("READY", flush=True)
    for line in sys.stdin:
        task, cluster = line.split(" ", 1)
        if os.fork() == 0:
            server = tf.distribute.Server(json.loads(cluster), job_name="worker", task_index=int(task), protocol="grpc")
            print(os.getpid(), flush=True)
            server.join()


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


def lasting_ports(count, numbers):
    """Ports that are still free when a worker starts again: not among those that the system gives to others meanwhile."""
    ports = []
    while len(ports) < count:
        port = numbers.randrange(10000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        ports.append(port)
    return ports


class Workers:
    def __init__(self, interpreter):
        self.zygote = subprocess.Popen(
            [interpreter, os.path.join(HERE, "faults.py"), "--zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self.zygote.stdout.readline() != "READY\n":
            sys.exit("the process that starts workers did not start")
        self.ports = lasting_ports(2, random.Random())
        self.proxy = Proxy(self.ports[0])
        # Among themselves workers are not cut off; the client reaches worker 0 through the proxy.
        self.own = {"worker": [f"localhost:{p}" for p in self.ports]}
        self.seen = {"worker": [f"localhost:{self.proxy.port}", f"localhost:{self.ports[1]}"]}
        self.pids = [None, None]

    def start(self, task):
        self.zygote.stdin.write(f"{task} {json.dumps(self.own)}\n")
        self.zygote.stdin.flush()
        line = self.zygote.stdout.readline()
        if not line.strip().isdigit():
            sys.exit(f"worker {task} did not start: {line!r}")
        self.pids[task] = int(line)

    def kill(self, task):
        if self.pids[task]:
            os.kill(self.pids[task], signal.SIGKILL)
            self.proxy.cut() if task == 0 else None
            self.pids[task] = None

    def end(self):
        for task in (0, 1):
            self.kill(task)
        self.zygote.kill()
        self.zygote.wait()


def held(proxy):
    """Threads and descriptors of this process without those of the proxy."""
    return len(os.listdir("/proc/self/task")) - proxy.open, len(os.listdir("/proc/self/fd")) - 2 * proxy.open


def descriptors():
    """How many descriptors of each kind this process has."""
    kinds = collections.Counter()
    for fd in os.listdir("/proc/self/fd"):
        try:
            kinds[os.readlink(f"/proc/self/fd/{fd}").split(":")[0]] += 1
        except OSError:
            pass
    return dict(kinds)


class Client:
    def __init__(self, workers, numbers):
        import weft as tf

        self.tf, self.workers, self.numbers = tf, workers, numbers
        self.connect()
        with tf.device(W[1]):
            self.kept = tf.Variable(0.0)
        self.rounds = 0

        @tf.function
        def over_two(x, n):
            with tf.device(W[0]):
                y = tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, y + 1.0), [tf.constant(0, tf.int64), x])[1]
            with tf.device(W[1]):
                return y * 2.0

        self.over_two = over_two
        self.in_threads()
        self.in_scope()

    def in_threads(self):
        """The error of a thread's op is not that of others, whose ops are under way on the same stream."""
        tf = self.tf
        results = [0] * 8

        def work(i):
            for n in range(20):
                with tf.device(W[i % 2]):
                    x = tf.constant(float(i))
                    for _ in range(10):
                        x = x + 1.0
                    if (i + n) % 4 == 0:
                        try:
                            tf.gather(tf.constant([1.0]), 5 + i).numpy()
                        except tf.errors.InvalidArgumentError:
                            results[i] += 1
                    assert float(x) == i + 10.0, f"thread {i}"
            results[i] += 100

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert results == [105] * 8, results

    def in_scope(self):
        """A function under the scope of one worker with a variable of the other."""
        tf = self.tf
        with tf.device(W[0]):
            v = tf.Variable(2.0)

        @tf.function
        def both(x):
            return v * x + self.kept

        @tf.function
        def loop(x, n):
            for _ in tf.range(n):
                with tf.device(W[1]):
                    x = x + 1.0
                x = both(x)
            return x

        with tf.device(W[0]):
            y = both(tf.constant(3.0))
        assert y.device.startswith(W[0]) and float(y) == 6.0
        assert float(loop(tf.constant(1.0), tf.constant(3))) == 22.0

    def connect(self):
        tf = self.tf
        tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(self.workers.seen))

    def endless_op(self):
        tf = self.tf
        with tf.device(W[0]):
            queue = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32])
            return tf.raw_ops.QueueDequeueV2(handle=queue, component_types=[tf.float32])[0].numpy()

    def endless_function(self):
        return self.over_two(self.tf.constant(1.0), self.tf.constant(1 << 60, self.tf.int64)).numpy()

    def check_all(self):
        """Both workers do what they should, and worker 1 still has its variable."""
        tf = self.tf
        self.rounds += 1
        self.kept.assign_add(1.0)
        with tf.device(W[0]):
            a = tf.constant(2.0) * 3.0
        assert float(a) == 6.0
        assert float(self.over_two(tf.constant(1.0), tf.constant(5, tf.int64))) == 12.0
        assert float(self.kept) == self.rounds

    def survivor_works(self):
        with self.tf.device(W[1]):
            assert float(self.tf.constant(1.0) + 1.0) == 2.0
        assert float(self.kept) == self.rounds

    def round(self, kind):
        fault, what = kind.split(" ")
        when = {}

        over = threading.Event()

        def strike():
            when["struck"] = time.monotonic()
            if fault == "kill":
                self.workers.kill(0)
            elif fault == "stop":
                os.kill(self.workers.pids[0], signal.SIGSTOP)
            else:  # a connection that is cut while nothing is under way on it is made again, and nobody notices
                while not over.is_set():
                    when["struck"] = time.monotonic()
                    self.workers.proxy.cut()
                    over.wait(0.2)

        timer = threading.Timer(self.numbers.uniform(0.0, 0.3), strike)
        timer.start()
        error = None
        try:
            self.endless_op() if what == "op" else self.endless_function()
        except self.tf.errors.OpError as e:
            error = e
        ended = time.monotonic()
        over.set()
        timer.join()
        limit = (SILENCE if fault == "stop" else 0) + GRACE
        late = ended - when["struck"]
        assert error is not None, "what takes for ever ended"
        expected = self.tf.errors.DeadlineExceededError if fault == "stop" else self.tf.errors.UnavailableError
        assert isinstance(error, expected), f"{type(error).__name__}: {error}"
        assert W[0] in str(error), f"the error does not name the task: {error}"
        assert late < limit, f"the error came after {late:.2f} s"
        self.survivor_works()
        self.workers.kill(0)  # also the one that is stopped, or still at work
        self.workers.start(0)
        self.connect()
        self.check_all()
        return late


KINDS = ["kill op", "kill function", "stop op", "stop function", "cut op", "cut function"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--zygote", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.zygote:
        return zygote()
    os.environ["WEFT_CLUSTER_TIMEOUT_SECONDS"] = str(SILENCE)
    workers = Workers(sys.executable)
    try:
        for task in (0, 1):
            workers.start(task)
        client = Client(workers, random.Random(args.seed))
        client.check_all()
        kinds = [args.kind] if args.kind else KINDS
        for kind in kinds:  # what is made once, by the first of each kind, is there from here on
            client.round(kind)
        time.sleep(1.0)
        before = held(workers.proxy)
        for kind in kinds:
            late = sorted(client.round(kind) for _ in range(args.rounds))
            print(
                f"{kind}: {len(late)} rounds, error after {late[len(late) // 2]:.2f} s, at most {late[-1]:.2f} s",
                flush=True,
            )
        for _ in range(50):  # idle threads end, closed connections go
            time.sleep(0.2)
            after = held(workers.proxy)
            if after[0] <= before[0] + 2 and after[1] <= before[1] + 2:
                break
        else:
            sys.exit(
                f"threads and descriptors grew from {before} to {after}: {descriptors()}, of the proxy {2 * workers.proxy.open}"
            )
        print(f"threads and descriptors: {before} before, {after} after")
    finally:
        workers.end()


if __name__ == "__main__":
    main()
