"""Ctrl-C at random moments: loops, datasets, queues, sessions and long kernels end as KeyboardInterrupt soon after the signal came, and all continues working after it."""

import sys

import support

# Each would run for very long, or for ever.
CALLS = {
    "while_loop": "tf.while_loop(lambda i: i < 10**9, lambda i: [i + 1], [tf.constant(0)])",
    "while_loop_in_function": """
@tf.function(autograph=False)
def call(): return tf.while_loop(lambda i: i < 10**9, lambda i: i + 1, [tf.constant(0)])
""",
    "second_call": """
@tf.function(autograph=False)
def f(n): return tf.while_loop(lambda i: i < n, lambda i: i + 1, [tf.constant(0)])
f(tf.constant(3))
def call(): f(tf.constant(10**9))
""",
    "compiled": """
@tf.function(autograph=False, jit_compile=True)
def f(n): return tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, tf.sin(x)), [tf.constant(0), tf.ones([100])])
f(tf.constant(3))
def call(): f(tf.constant(10**9))
""",
    "gradient": """
@tf.function(autograph=False)
def f(n, x): return tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, tf.sin(x)), [tf.constant(0), x])[1]
def call():
    x = tf.constant(1.0)
    while True:
        with tf.GradientTape() as t:
            t.watch(x)
            y = f(tf.constant(100), x)
        t.gradient(y, x)
""",
    "many_outputs": """
x = tf.zeros([10**6])
def call():
    while True: tf.raw_ops.Unpack(value=x, num=10**6)
""",
    "many_inputs": """
x = [tf.zeros([])] * 3_000_000
def call():
    while True: tf.raw_ops.Pack(values=x)
""",
    "many_inputs_of_their_own": """
x = tf.unstack(tf.zeros([10**6, 1]))
def call():
    while True:
        tf.raw_ops.AddN(inputs=x)
        tf.raw_ops.ConcatV2(values=x, axis=0)
""",
    "filter": "next(iter(tf.data.Dataset.range(10**12).filter(lambda x: x < 0)))",
    "filter_prefetch": "next(iter(tf.data.Dataset.range(10**12).filter(lambda x: x < 0).prefetch(2)))",
    "parallel_map_filter": "next(iter(tf.data.Dataset.range(10**12).map(lambda x: x + 1, num_parallel_calls=2).filter(lambda x: x < 0)))",
    "reduce": "tf.data.Dataset.range(10**12).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)",
    "dataset_in_function": """
ds = tf.data.Dataset.range(10).repeat()
@tf.function
def call():
    s = tf.constant(0, tf.int64)
    for x in ds: s += x
    return s
""",
    "generator": """
def g():
    while True: yield 1
def call():
    for x in tf.data.Dataset.from_generator(g, output_signature=tf.TensorSpec([], tf.int32)).prefetch(2): pass
""",
    "sleeping_generator": """
def g():
    while True:
        time.sleep(0.2)
        yield 1
def call(): next(iter(tf.data.Dataset.from_generator(g, output_signature=tf.TensorSpec([], tf.int32)).filter(lambda x: x > 1).prefetch(2)))
""",
    "dequeue": "tf.queue.FIFOQueue(3, tf.float32).dequeue()",
    "dequeue_in_function": """
q = tf.queue.FIFOQueue(3, tf.float32)
@tf.function(autograph=False)
def call(): return q.dequeue()
""",
    "session": """
v1 = tf.compat.v1
with tf.Graph().as_default():
    loop = tf.while_loop(lambda i: i < 10**9, lambda i: i + 1, [tf.constant(0)])
    session, one = v1.Session(), tf.constant(1)
def call(): session.run(loop)
def after(): assert session.run(one) == 1
""",
    "session_dequeue": """
v1 = tf.compat.v1
with tf.Graph().as_default():
    q = v1.FIFOQueue(3, tf.float32)
    value, one = q.dequeue(), tf.constant(1)
    session = v1.Session()
def call(): session.run(value)
def after(): assert session.run(one) == 1
""",
    "session_old_loop": """
v1 = tf.compat.v1
v1.disable_control_flow_v2()
with tf.Graph().as_default():
    loop = v1.while_loop(lambda i: i < 10**9, lambda i: i + 1, [tf.constant(0)])
    session, one = v1.Session(), tf.constant(1)
def call(): session.run(loop)
def after(): assert session.run(one) == 1
""",
    "matmul": """
a = tf.ones([6000, 6000], tf.float64)
def call(): tf.matmul(a, a)
""",
    "sort": """
a = tf.random.uniform([60_000_000])
def call(): tf.sort(a)
""",
    "svd": """
a = tf.random.uniform([1500, 1500])
def call(): tf.linalg.svd(a)
""",
    "matmul_in_function": """
a = tf.ones([6000, 6000], tf.float64)
@tf.function(autograph=False)
def call(): return tf.matmul(a, a)
""",
    "py_function": "tf.py_function(lambda: [time.sleep(0.01) for _ in range(10000)] and 1, [], tf.int32)",
    "map_fn": "tf.map_fn(lambda x: x + 1, tf.range(10**7))",
}

HEAD = """
import os, signal, sys, threading, time
import weft as tf
tf.constant(1) + 1
def after(): pass
"""
TAIL = """
def interrupt():
    time.sleep(pause)
    came.append(time.monotonic())
    if by_kill: os.kill(os.getpid(), signal.SIGINT)
    else:
        import _thread
        _thread.interrupt_main()
for turn in range(turns):
    came = []
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        call()
        if came: time.sleep(1)  # it ended just before
        print("ended" if came else "was too short", flush=True)
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - came[0], flush=True)
    while not came: time.sleep(0.01)
    assert (tf.constant([1, 2]) + 1).numpy().tolist() == [2, 3]
    assert tf.function(lambda x: tf.reduce_sum(x), autograph=False)(tf.ones([5])).numpy() == 5
    assert [int(x) for x in tf.data.Dataset.range(3).map(lambda x: x + 1, num_parallel_calls=2).prefetch(1)] == [1, 2, 3]
    after()
print("fine", flush=True)
"""


def attack(random, build):
    name = random.choice(list(CALLS))
    code = CALLS[name] if "\n" in CALLS[name] else f"def call(): {CALLS[name]}\n"
    text = f"{HEAD}# {name}\n{code}\npause, turns, by_kill = {random.choice([0.0, 0.02, 0.1, 0.3, 0.7])}, {random.choice([1, 2])}, {random.random() < 0.8}\n{TAIL}"
    outcome = support.child([sys.executable, "-c", text], seconds=120)
    problem = outcome.problem()
    if not problem and (outcome.code or "fine" not in outcome.out):
        problem = f"exit status {outcome.code}: {outcome.err[-800:]}"
    late = [
        line for line in outcome.out.splitlines() if line.startswith("interrupted") and float(line.split()[1]) > 2
    ]  # half a second, on an idle machine
    if not problem and late:
        problem = f"{name}: {late}"
    return problem and f"{problem}\n{text}"


if __name__ == "__main__":
    support.main(__doc__, attack, at_least=2)
