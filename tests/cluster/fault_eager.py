"""Faults of a worker that an eager client uses: in an op, in a function over both workers, in a checkpoint; and what a client that dies leaves on a worker."""

import os
import resource
import signal
import tempfile
import threading
import time

from fault_tasks import GRACE, HANG, SILENCE, Proxy, SmallDisk, held, lasting_ports

W = ["/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"]


class Eager:
    """Two workers, the first one reached by a proxy, and a client: this process."""

    KINDS = ["kill op", "kill function", "kill checkpoint", "stop op", "stop function", "disk checkpoint"]

    def __init__(self, children, numbers):
        import weft as tf

        self.tf, self.children, self.numbers = tf, children, numbers
        ports = lasting_ports(2)
        self.proxy = Proxy(ports[0])
        # Among themselves workers are not cut off; the client reaches worker 0 through the proxy.
        self.own = {"worker": [f"localhost:{p}" for p in ports]}
        self.seen = {"worker": [f"localhost:{self.proxy.port}", f"localhost:{ports[1]}"]}
        self.workers = [None, None]
        self.folder = tempfile.TemporaryDirectory()
        self.disk = SmallDisk(os.path.join(self.folder.name, "disk"), 6)
        for task in (0, 1):
            self.start(task)
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
        self.check_all()
        self.missing()

    def start(self, task):
        self.workers[task] = self.children.serve("server", cluster=self.own, job="worker", task=task)

    def kill(self, task):
        if self.workers[task]:
            self.children.end(self.workers[task])
            self.proxy.cut() if task == 0 else None
            self.workers[task] = None

    def connect(self):
        tf = self.tf
        tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(self.seen))

    def held(self):
        """Of this process, without the proxy, and of worker 1, which no fault comes over."""
        threads, files, megabytes = held(os.getpid(), self.workers[1].pid)
        return threads - self.proxy.open, files - 2 * self.proxy.open, megabytes

    def missing(self):
        """A cluster with a task that is not there in time is none; those that are there take part in the next one."""
        from weft import _weft
        from weft._src.framework.eager_context import context

        current = context().get_server_def()
        wider = type(current).FromString(current.SerializeToString())
        jobs = {job.name: job for job in wider.cluster.job}
        jobs["worker"].tasks[2] = f"localhost:{lasting_ports(1)[0]}"
        for _ in range(2):
            try:
                _weft.update_cluster(wider.SerializeToString(), 0.2)
            except self.tf.errors.OpError:
                continue
            raise AssertionError("a task that is not there became part of a cluster")
        _weft.update_cluster(current.SerializeToString(), 10.0)
        self.check_all()

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

    # ---- what worker 0 is asked for; it does not end by itself

    def endless_op(self):
        tf = self.tf
        with tf.device(W[0]):
            queue = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32])
            return tf.raw_ops.QueueDequeueV2(handle=queue, component_types=[tf.float32])[0].numpy()

    def endless_function(self):
        return self.over_two(self.tf.constant(1.0), self.tf.constant(1 << 60, self.tf.int64)).numpy()

    def save(self, name, value):
        """A checkpoint that worker 0 writes."""
        tf = self.tf
        with tf.device(W[0]):
            tf.raw_ops.SaveV2(
                prefix=os.path.join(self.folder.name, name),
                tensor_names=["a", "b"],
                shape_and_slices=["", ""],
                tensors=[tf.fill([1 << 18], value), tf.fill([1 << 18], value + 1)],
            )
            tf.constant(0.0).numpy()  # when the op has ended

    def restored(self, name):
        tf = self.tf
        got = tf.raw_ops.RestoreV2(
            prefix=os.path.join(self.folder.name, name),
            tensor_names=["a", "b"],
            shape_and_slices=["", ""],
            dtypes=[tf.float32] * 2,
        )
        return [sorted(set(t.numpy().tolist())) for t in got]

    def endless_checkpoints(self):
        while True:
            self.save("next", 5.0)

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
        if fault == "disk":
            return self.full_disk()
        if what == "checkpoint":
            self.save("last", float(self.rounds))
        when = {}
        over = threading.Event()

        def strike():
            when["struck"] = time.monotonic()
            if fault == "kill":
                self.kill(0)
            elif fault == "stop":
                self.workers[0].signal(signal.SIGSTOP)
            else:  # a connection that is cut while nothing is under way on it is made again, and nobody notices
                while not over.is_set():
                    when["struck"] = time.monotonic()
                    self.proxy.cut()
                    over.wait(0.2)

        timer = threading.Timer(self.numbers.uniform(0.0, 0.3), strike)
        timer.start()
        error = None
        asked = {"op": self.endless_op, "function": self.endless_function, "checkpoint": self.endless_checkpoints}
        try:
            asked[what]()
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
        self.kill(0)  # also the one that is stopped, or still at work
        self.start(0)
        self.connect()
        if what == "checkpoint":
            assert self.restored("last") == [[float(self.rounds)], [self.rounds + 1.0]]
        self.check_all()
        return late

    def full_disk(self):
        """Worker 0 writes to a disk that is full after so many bytes; where none can be mounted, it can write no more than so many of a file."""
        pid, room = self.workers[0].pid, self.numbers.randrange(0, 2 << 20)
        where = os.path.join(self.folder.name, "disk") if self.disk.there else self.folder.name
        last, following = (os.path.relpath(os.path.join(where, name), self.folder.name) for name in ("last", "next"))
        self.save(last, float(self.rounds))
        before = sorted(os.listdir(where))
        unlimited = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        if self.disk.there:
            self.disk.fill(room)
        else:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (room, unlimited[1]))
        begin = time.monotonic()
        try:
            self.save(following, 5.0)
            raise AssertionError("a file that is larger than the room that is left was written")
        except self.tf.errors.ResourceExhaustedError as e:
            assert "/task:0" in str(e), f"the error does not name the task: {e}"
            assert ("No space left on device" if self.disk.there else "File too large") in str(e), e
        late = time.monotonic() - begin
        assert late < GRACE, f"the error came after {late:.2f} s"
        if self.disk.there:
            self.disk.empty()
        else:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
        left = sorted(set(os.listdir(where)) - set(before))
        assert not left, f"a save that failed left {left}"
        assert self.restored(last) == [[float(self.rounds)], [self.rounds + 1.0]]
        self.save(following, 7.0)
        assert self.restored(following) == [[7.0], [8.0]]
        for name in os.listdir(where):
            if name.startswith("next"):
                os.remove(os.path.join(where, name))
        self.check_all()
        return late

    def close(self):
        self.disk.close()
        self.folder.cleanup()


class CutOff(Eager):
    """Connections that are cut: those of gRPC, since nothing stands between the ends of a Unix socket (faults.py turns these off)."""

    KINDS = ["cut op", "cut function"]


class DeadClient:
    """A client that is killed while a worker works for it: the worker stops working, and is as it was."""

    KINDS = ["client op", "client function", "client parts", "client session"]

    def __init__(self, children, numbers):
        self.children, self.numbers = children, numbers
        ports = lasting_ports(2)
        self.cluster = {"worker": [f"localhost:{p}" for p in ports]}
        self.workers = [children.serve("server", cluster=self.cluster, job="worker", task=i) for i in (0, 1)]

    def busy(self):
        """Threads of worker 0, and the processor time that it has used."""
        pid = self.workers[0].pid
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return len(os.listdir(f"/proc/{pid}/task")), int(fields[11]) + int(fields[12])

    def round(self, kind):
        what = kind.split(" ")[1]
        client = self.children.start("endless_client", cluster=self.cluster, what=what)
        assert client.hear() == "begins"
        time.sleep(self.numbers.uniform(0.2, 0.5))
        begin = time.monotonic()
        self.children.end(client)
        # Idle: no processor time to speak of, in half a second.
        while True:
            used = self.busy()[1]
            time.sleep(0.5)
            if self.busy()[1] - used <= 3:
                break
            assert time.monotonic() - begin < HANG, f"worker 0 still works for a client that is dead: {self.busy()}"
        return time.monotonic() - begin - 0.5

    def held(self):
        return held(self.workers[0].pid)

    def close(self):
        for w in self.workers:
            self.children.end(w)
