"""Ends the interpreter while the engine is busy: daemon threads inside ops, functions and Python callbacks, iterators that are made ahead, queues, servers,
writers, the compiler in the background being loaded and at work, in any mix and by any kind of end; and C++ programs (busy_process.cc). The end must be quick and
silent, with the exit status that the program asked for."""

import sys
import time

import support

# Each leaves something running or alive. `name` is unique in a program.
PARTS = {
    "op": """
        a_{n} = tf.random.normal([400, 400])
        def {n}():
            while True: tf.matmul(a_{n}, a_{n})
        thread({n})""",
    "small_op": """
        def {n}():
            x = tf.constant(1.0)
            while True: x = x + 1.0
        thread({n})""",
    "function": """
        @tf.function(autograph=False)
        def f_{n}(x): return tf.while_loop(lambda i: i < 1000000000, lambda i: i + 1, [x])
        thread(lambda: f_{n}(tf.constant(0)))""",
    "compiling": """
        def {n}(functions):
            for k in range(functions):
                f = tf.function(lambda x: tf.while_loop(lambda i, y: i < 300, lambda i, y: (i + 1, tf.tanh(y * 0.5) + float(k)), (0, x))[1], autograph=False)
                for _ in range(20): f(tf.ones([{size}]))
        {n}(1)
        thread(lambda: {n}(1000))""",
    "trace": """
        def {n}():
            i = 0
            while True:
                i += 1
                tf.function(lambda x, i=i: tf.reduce_sum(x * i), autograph=False)(tf.ones([3]))
        thread({n})""",
    "py_function": """
        def {n}():
            while True: tf.py_function(lambda x: x + 1, [tf.ones([{size}])], tf.float32)
        thread({n})""",
    "py_function_in_function": """
        @tf.function(autograph=False)
        def f_{n}(x):
            return tf.while_loop(lambda i: i < 1000000000., lambda i: tf.py_function(lambda v: v + 1, [i], tf.float32), [x], shape_invariants=[tf.TensorShape(None)])
        thread(lambda: f_{n}(tf.constant(0.)))""",
    "sleeping_numpy_function": """
        thread(lambda: tf.numpy_function(lambda v: (time.sleep({pause}), v)[1], [1.0], tf.float64))""",
    "gradient": """
        def {n}():
            x = tf.Variable(tf.ones([{size}]))
            while True:
                with tf.GradientTape() as t: y = tf.reduce_sum(tf.py_function(lambda v: v * v, [x], tf.float32))
                t.gradient(y, x)
        thread({n})""",
    "generator": """
        def g_{n}():
            i = 0
            while True:
                yield i
                i += 1
                if i > {size}: time.sleep({pause})
        {n} = iter(tf.data.Dataset.from_generator(g_{n}, output_signature=tf.TensorSpec([], tf.int32)).prefetch({size} + 2))
        next({n})""",
    "generator_map": """
        def g_{n}():
            while True: yield 1
        {n} = iter(tf.data.Dataset.from_generator(g_{n}, output_signature=tf.TensorSpec([], tf.int32)).map(
            lambda x: tf.py_function(lambda v: v + 1, [x], tf.int32), num_parallel_calls=3).prefetch(2))
        next({n})""",
    "interleave": """
        {n} = iter(tf.data.Dataset.range(1000).interleave(lambda x: tf.data.Dataset.range(100000), num_parallel_calls=4, cycle_length=4).prefetch(8))
        next({n})""",
    "cycle": """
        class C_{n}: pass
        {n} = C_{n}(); {n}.me = {n}
        {n}.it = iter(tf.data.Dataset.range(100000).map(lambda x: tf.numpy_function(lambda v: v + 1, [x], tf.int64), num_parallel_calls=2).prefetch(2))
        next({n}.it)""",
    "del": """
        class D_{n}:
            def __init__(self): self.x = tf.ones([{size}]); self.x.numpy()
            def __del__(self): (self.x + 1).numpy()
        {n} = D_{n}()""",
    "queue": """
        {n} = tf.queue.FIFOQueue(3, tf.float32)
        thread({n}.dequeue)""",
    "queue_runner": """
        v1 = tf.compat.v1
        with tf.Graph().as_default():
            q_{n} = v1.FIFOQueue(10, tf.float32)
            v1.train.add_queue_runner(v1.train.QueueRunner(q_{n}, [q_{n}.enqueue(1.0)] * 2))
            s_{n} = v1.Session()
            d_{n} = q_{n}.dequeue()
            t_{n} = v1.train.start_queue_runners(s_{n}, v1.train.Coordinator())
            s_{n}.run(d_{n})""",
    "async": """
        tf.config.experimental.set_synchronous_execution(False)
        a_{n} = tf.random.normal([300, 300])
        for _ in range(20): {n} = tf.matmul(a_{n}, a_{n})""",
    "checkpoint": """
        {n} = tf.train.Checkpoint(v=tf.Variable(tf.ones([{size} * 100])))
        {n}.save(tempfile.mkdtemp(dir=here) + "/x", options=tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True))""",
    "writer": """
        {n} = tf.summary.create_file_writer(tempfile.mkdtemp(dir=here))
        with {n}.as_default(): tf.summary.scalar("a", 1.0, step=1)""",
    "service": """
        {n} = tf.data.experimental.service.DispatchServer()
        w_{n} = tf.data.experimental.service.WorkerServer(tf.data.experimental.service.WorkerConfig(dispatcher_address={n}.target.split("://")[1]))
        i_{n} = iter(tf.data.Dataset.range(100000).apply(tf.data.experimental.service.distribute("parallel_epochs", {n}.target)))
        next(i_{n})""",
    "profiler": """
        tf.profiler.experimental.start(tempfile.mkdtemp(dir=here))""",
}
ENDS = {"": 0, "sys.exit(3)": 3, "os._exit(4)": 4, "raise ValueError('the end')": 1, "raise KeyboardInterrupt": 130}

HEAD = """
import os, shutil, sys, tempfile, threading, time
import weft as tf
def thread(code): threading.Thread(target=code, daemon=True).start()
here = tempfile.mkdtemp()
"""


def program(random):
    """The text of a program, and the exit status that it has to end with."""
    text = HEAD
    profiled = False
    for i in range(random.choice([1, 1, 2, 3])):
        part = random.choice(list(PARTS))
        if part in ("profiler", "async"):
            if profiled:
                continue
            profiled = True
        code = PARTS[part].format(n=f"p{i}", size=random.choice([1, 10, 10000]), pause=random.choice([0.05, 0.3, 30]))
        text += f"# {part}\n" + "\n".join(line[8:] for line in code.splitlines()) + "\n"
    end = random.choice(list(ENDS))
    if random.random() < 0.3:
        text += "import atexit\natexit.register(lambda: tf.reduce_sum(tf.ones([10000])).numpy())\n"
    text += f"time.sleep({random.choice([0, 0.01, 0.1, 0.3, random.random() / 5])})\nshutil.rmtree(here, ignore_errors=True)\nprint('end', time.time(), flush=True)\n{end}\n"
    return text, ENDS[end]


def attack(random, build):
    # Most functions that take any time are compiled in the background.
    compiler = {"WEFT_JIT": "auto", "WEFT_JIT_THRESHOLD": random.choice(["1", "1", "20"])}
    if random.random() < 0.25:
        call = [build.program("busy_process"), random.choice(["exit", "return"]), str(random.randrange(1 << 30))]
        outcome = support.child(call, seconds=60, env=compiler)
        return outcome.problem() or (
            f"exit status {outcome.code}, not 5: {outcome.err[-300:]}" if outcome.code != 5 else None
        )
    text, status = program(random)
    outcome = support.child([sys.executable, "-c", text], seconds=60, env=compiler)
    problem = outcome.problem()
    if status == 130 and outcome.code in (
        -2,
        1,
    ):  # Python ends so; with 1 where another thread evaluated code meanwhile
        problem = None
    elif not problem and outcome.code != status:
        problem = f"exit status {outcome.code}, not {status}: {outcome.err[-600:]}"
    if not problem and "end " in outcome.out:
        noise = [
            line
            for line in outcome.err.splitlines()
            if "Error" in line or "terminate" in line or "Exception ignored" in line
        ]
        noise = [line for line in noise if "the end" not in line]
        took = time.time() - float(outcome.out.split("end ")[1].split()[0])
        if noise:
            problem = f"the end is not silent: {outcome.err[-600:]}"
        elif took > 3:  # a second, on a machine that has nothing else to do
            problem = f"the end took {took:.1f} s"
    return problem and f"{problem}\n{text}"


if __name__ == "__main__":
    support.main(__doc__, attack, at_least=2)
