"""Faults in a session's step, in steps of parameter servers, in reads from the tf.data service, in all-reduces, and in training with checkpoints."""

import json
import os
import shutil
import signal
import tempfile
import threading
import time

from fault_tasks import GRACE, HANG, SILENCE, Servers, held, lasting_ports


def own_held():
    return held(os.getpid())


class Struck:
    """Does something after so many seconds, and knows when."""

    def __init__(self, seconds, act):
        self.at = None

        def strike():
            self.at = time.monotonic()
            act()

        self.timer = threading.Timer(seconds, strike)
        self.timer.start()

    def late(self):
        ended = time.monotonic()
        self.timer.join()
        return ended - self.at


class Session:
    """A session whose second task dies in mid step."""

    KINDS = ["kill session"]

    def __init__(self, children, numbers):
        import weft as tf

        self.tf, self.numbers = tf, numbers
        self.servers = Servers(children, worker=2)
        self.master = "grpc://" + self.servers.cluster["worker"][0]
        v1 = tf.compat.v1
        self.graph = tf.Graph()
        with self.graph.as_default():
            with tf.device("/job:worker/task:0"):
                self.near = tf.constant(1.0) + 2.0
            with tf.device("/job:worker/task:1"):
                self.x = v1.placeholder(tf.float32, [])
                self.far = self.x + 1.0
                waits = v1.FIFOQueue(1, tf.float32, shared_name="empty").dequeue()
            with tf.device("/job:worker/task:0"):
                self.reads = waits + 1.0

    def round(self, kind):
        tf = self.tf
        with tf.compat.v1.Session(self.master, graph=self.graph) as session:
            assert session.run(self.far, {self.x: 1.0}) == 2.0
            struck = Struck(self.numbers.uniform(0.0, 0.3), lambda: self.servers.kill("worker", 1))
            error = None
            try:
                session.run(self.reads)
            except tf.errors.OpError as e:
                error = e
            late = struck.late()
            assert isinstance(error, tf.errors.UnavailableError), f"{type(error).__name__}: {error}"
            assert "/job:worker/replica:0/task:1" in str(error), f"the error does not name the task: {error}"
            assert late < GRACE, f"the error came after {late:.2f} s"
            assert session.run(self.near) == 3.0
        self.servers.start("worker", 1)
        end = time.monotonic() + HANG
        while True:  # the master finds the way to the task again
            try:
                with tf.compat.v1.Session(self.master, graph=self.graph) as session:
                    assert session.run(self.far, {self.x: 2.0}) == 3.0
                return late
            except (tf.errors.UnavailableError, tf.errors.AbortedError):
                assert time.monotonic() < end, "the task that was started again cannot be used"
                time.sleep(0.05)

    held = staticmethod(own_held)

    def close(self):
        self.servers.close()


class ParameterServers:
    """A coordinator with two workers and a parameter server. A worker that dies in mid step: its steps are done by the other. The parameter server: an error that names it."""

    KINDS = ["kill ps", "kill ps-worker"]

    def __init__(self, children, numbers):
        self.children, self.numbers = children, numbers
        self.servers = Servers(children, worker=2, ps=1)
        self.client = None

    def start(self):
        if not self.client:
            self.client = self.children.serve("coordinator", cluster=self.servers.cluster)

    def ask(self, steps):
        self.client.say(str(steps))
        assert self.client.hear() == "steps"

    def round(self, kind):
        self.start()
        steps, task = 60, ("worker", self.numbers.randrange(2)) if kind.endswith("worker") else ("ps", 0)
        self.ask(steps)

        def strike():
            self.servers.kill(*task)
            if kind == "kill ps-worker":  # two that are away at once would leave nobody
                time.sleep(0.2)
                self.servers.start(*task)

        struck = Struck(self.numbers.uniform(0.0, 0.1), strike)
        answer = json.loads(self.client.hear())
        late = struck.late()
        if answer[0] == "done" and kind == "kill ps":  # it was quicker than the fault: the next steps find it
            self.client.say("1")
            assert self.client.hear() == "steps"
            answer = json.loads(self.client.hear())
        if kind == "kill ps-worker":
            # A step that was under way may be done twice.
            assert answer[0] == "done" and steps <= answer[1] <= steps + 2 and answer[2] == steps, answer
            return late
        assert answer[0] == "UnavailableError" and "/job:ps/replica:0/task:0" in answer[1], answer
        assert late < GRACE, f"the error came after {late:.2f} s"
        self.children.end(self.client)
        self.client = None
        self.servers.start(*task)
        return late

    def held(self):
        return held(self.client.pid) if self.client else own_held()

    def close(self):
        self.servers.close()


class DataService:
    """A reader of the tf.data service whose worker, or whose dispatcher, dies and comes back: it reads on to the end."""

    KINDS = ["kill data-worker", "kill dispatcher"]

    def __init__(self, children, numbers):
        import weft as tf

        self.tf, self.children, self.numbers = tf, children, numbers
        self.folder = tempfile.TemporaryDirectory()
        ports = lasting_ports(3)
        self.ports, self.count = ports, 0
        self.running = {}
        self.start(0)
        self.start(1)
        self.start(2)

    def start(self, i):
        if i == 0:
            child = self.children.serve("dispatcher", port=self.ports[0], work_dir=self.folder.name)
        else:
            child = self.children.serve("data_worker", address=f"localhost:{self.ports[0]}", port=self.ports[i])
        self.running[i] = child

    def kill(self, i):
        self.children.end(self.running.pop(i))

    def round(self, kind):
        tf, service = self.tf, self.tf.data.experimental.service
        self.count += 1
        mode, n = ("parallel_epochs", 60) if kind.endswith("worker") else ("distributed_epoch", 120)
        which = 1 + self.numbers.randrange(2) if kind.endswith("worker") else 0
        data = tf.data.Dataset.range(n).map(lambda x: x + tf.cast(tf.reduce_sum(tf.zeros([1000])), tf.int64))
        data = data.apply(
            service.distribute(
                mode, f"grpc://localhost:{self.ports[0]}", max_outstanding_requests=1, job_name=f"job {self.count}"
            )
        )
        walk, after, got = iter(data), self.numbers.randrange(1, 20), []
        struck, begin = None, time.monotonic()

        def restart():
            self.kill(which)
            self.start(which)

        for x in walk:
            got.append(int(x))
            if len(got) == after:
                struck = Struck(self.numbers.uniform(0.0, 0.02), restart)
            assert time.monotonic() - begin < HANG, "the reader hangs"
        late = struck.late()
        missing = sorted(set(range(n)) - set(got))
        if kind == "kill dispatcher":
            # A split whose answer was on its way is lost, as in TensorFlow: nothing comes twice.
            assert len(got) == len(set(got)) and len(missing) <= 2, f"{got} of {n}"
        else:
            assert not missing, f"{missing} of {n} are missing"
        return late

    held = staticmethod(own_held)

    def close(self):
        for i in list(self.running):
            self.kill(i)
        self.folder.cleanup()


class AllReduce:
    """Three processes that reduce tensors, of which one dies or stops: the others have an error that names it, and go on without the group."""

    KINDS = ["kill all-reduce", "stop all-reduce"]

    def __init__(self, children, numbers):
        self.children, self.numbers = children, numbers

    def round(self, kind):
        n = 3

        def make():
            cluster = {"worker": [f"localhost:{p}" for p in lasting_ports(n)]}
            given = {"cluster": cluster, "heartbeat_ms": int(SILENCE * 1000)}
            return [self.children.start("member", task=i, **given) for i in range(n)]

        members = self.children.together(make)
        victim = 1 + self.numbers.randrange(n - 1)  # the first one leads the group
        for m in members:
            m.say("go")
        time.sleep(self.numbers.uniform(0.0, 0.3))
        begin = time.monotonic()
        members[victim].signal(signal.SIGKILL if kind.startswith("kill") else signal.SIGSTOP)
        late = 0.0
        for i, m in enumerate(members):
            if i == victim:
                continue
            line = m.hear()
            assert line, f"member {i} died"
            name, text, at, local = json.loads(line)
            assert name == "UnavailableError", f"{name}: {text}"
            assert f"task:{victim}" in text, f"the error does not name the task: {text}"
            assert local == 1000.0
            late = max(late, at - begin)
        # One that is killed while nobody waits for a message of its is missed by its heartbeats alone.
        assert late < SILENCE + GRACE, f"the error came after {late:.2f} s"
        for i, m in enumerate(members):
            if i != victim:
                m.say("end")
                assert m.hear() == "", "a member does not end"
            self.children.end(m)
        return late

    held = staticmethod(own_held)

    def close(self):
        pass


class Training:
    """Two workers that train with checkpoints; one dies in mid step, or while a checkpoint is written. Started again, both end with the weights of a run without that."""

    KINDS = ["kill training", "kill saving"]
    STEPS, EVERY = 12, 3

    def __init__(self, children, numbers):
        self.children, self.numbers = children, numbers
        with tempfile.TemporaryDirectory() as folder:
            self.expected = self.run(folder)[0]
        assert self.expected[0] == "weights", self.expected

    def run(self, folder, victim=None, word=None, at=0, delay=0.0):
        """The last line of each worker. The victim is killed so many seconds after it said `word at`."""

        def make():
            cluster = {"worker": [f"localhost:{p}" for p in lasting_ports(2)]}
            given = {"cluster": cluster, "folder": folder, "steps": self.STEPS, "every": self.EVERY}
            given["heartbeat_ms"] = int(SILENCE * 1000)
            return [self.children.start("trainer", task=i, **given) for i in range(2)]

        workers = self.children.together(make)
        struck, last = [], [None, None]

        def follow(i):
            while line := workers[i].hear():
                last[i] = line.split(" ", 2 if line.startswith("weights") else 1)
                if i == victim and last[i] == [word, str(at)]:
                    time.sleep(delay)
                    struck.append(time.monotonic())
                    workers[i].signal(signal.SIGKILL)
                if last[i][0] in ("weights", "lost"):
                    return

        threads = [threading.Thread(target=follow, args=(i,)) for i in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(HANG)
            assert not t.is_alive(), f"a worker hangs: {last}"
        for w in workers:
            self.children.end(w)
        return (*last, struck[0] if struck else None)

    def round(self, kind):
        folder = tempfile.mkdtemp()
        try:
            victim, saving = self.numbers.randrange(2), kind.endswith("saving")
            word = "saves" if saving else "step"
            at = self.EVERY * self.numbers.randrange(1, 4) - 1 if saving else self.numbers.randrange(self.STEPS)
            results = self.run(folder, victim, word, at, self.numbers.uniform(0.0, 0.01))
            other, struck = results[1 - victim], results[2]
            late = 0.0
            if other[0] == "lost":  # unless all was done before
                name, text, when = json.loads(other[1])
                # A dying leader may still take a heartbeat's connection, which nobody answers: its time runs out then.
                known = ("UnavailableError", "DeadlineExceededError") if victim == 0 else ("UnavailableError",)
                assert name in known, f"{name}: {text}"
                assert f"task:{victim}" in text, f"the error does not name the task: {text}"
                late = when - struck
                assert late < SILENCE + GRACE, f"the error came after {late:.2f} s"
            else:
                assert other[0] == "weights", other
            again = self.run(folder)
            assert again[0] == again[1] == self.expected, f"{again[:2]} instead of {self.expected}"
            return late
        finally:
            shutil.rmtree(folder)

    held = staticmethod(own_held)

    def close(self):
        pass
