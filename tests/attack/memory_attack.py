"""Programs with less memory, or fewer threads, than they need: errors of Python, TensorFlow or the system, but no crashes and no hangs. The limit on the address space is
somewhat above what the process has when it is set, so that any allocation may be the one that fails."""

import sys

import support

# Each runs under a limit; `n` is a size.
CALLS = {
    "ops": "x = tf.random.uniform([{n}]); y = tf.sort(x * 2); tf.unique(tf.cast(y * 100, tf.int32)); tf.reduce_sum(y).numpy()",
    "matmul": "k = int({n} ** 0.5) + 1; x = tf.ones([k, k]); tf.linalg.inv(x @ x + tf.eye(k)).numpy()",
    "conv": "tf.nn.conv2d(tf.ones([8, 64, 64, 16]), tf.ones([3, 3, 16, {n} // 20000 + 1]), 1, 'SAME')",
    "strings": "x = tf.strings.as_string(tf.range({n})); tf.strings.reduce_join(x); tf.strings.split(tf.strings.reduce_join(x, separator=' '))",
    "function": "tf.function(lambda x: tf.reduce_sum(tf.sin(x) @ tf.transpose(x)), autograph=False)(tf.ones([int({n} ** 0.5) + 1, 100]))",
    "trace": """
@tf.function(autograph=False)
def f(x):
    for _ in range(200): x = tf.sin(x) + 1
    return x
f(tf.ones([{n}]))""",
    "loop": "tf.function(lambda x: tf.while_loop(lambda i, x: i < 50, lambda i, x: (i + 1, tf.concat([x, x[:{n} // 50]], 0)), [0, x], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])]), autograph=False)(tf.ones([{n}]))",
    "gradient": """
x = tf.Variable(tf.ones([int({n} ** 0.5) + 1, 64]))
with tf.GradientTape() as t: y = tf.reduce_sum(tf.sin(x @ tf.transpose(x)))
t.gradient(y, x)""",
    "compiled": "tf.function(lambda x: tf.reduce_sum(tf.sin(x) * 2), autograph=False, jit_compile=True)(tf.ones([{n}]))",
    "parallel_map": "for x in tf.data.Dataset.range(8).map(lambda i: tf.random.uniform([{n}]) * 2, num_parallel_calls=4).prefetch(4): pass",
    "map_strings": "for x in tf.data.Dataset.range(8).map(lambda i: tf.strings.as_string(tf.range({n})), num_parallel_calls=4).batch(2).prefetch(4): pass",
    "interleave": "for x in tf.data.Dataset.range(8).interleave(lambda i: tf.data.Dataset.from_tensors(tf.ones([{n}])).repeat(3), num_parallel_calls=4).prefetch(4): pass",
    "shuffle_cache": "for x in tf.data.Dataset.range(64).map(lambda i: tf.ones([{n} // 8 + 1])).cache().shuffle(32).batch(8).prefetch(2): pass",
    "generator": "for x in tf.data.Dataset.from_generator(lambda: (__import__('numpy').ones([{n}]) for _ in range(8)), output_signature=tf.TensorSpec([None], tf.float64)).prefetch(4): pass",
    "py_function": "tf.py_function(lambda x: tf.concat([x, x], 0), [tf.ones([{n}])], tf.float32)",
    "queue": """
q = tf.queue.FIFOQueue(20, tf.float32)
for _ in range(16): q.enqueue(tf.ones([{n}]))
for _ in range(16): q.dequeue()""",
    "session": """
v1 = tf.compat.v1
with tf.Graph().as_default():
    q = v1.FIFOQueue(20, tf.float32)
    e, d = q.enqueue(tf.ones([{n}]) * 2), q.dequeue()
    s = v1.Session()
    for _ in range(8): s.run(e)
    for _ in range(8): s.run(d)""",
    "map_fn": "tf.map_fn(lambda x: tf.ones([{n} // 64 + 1]) * x, tf.range(64, dtype=tf.float32))",
    "checkpoint": """
import tempfile
with tempfile.TemporaryDirectory() as folder: tf.train.Checkpoint(v=tf.Variable(tf.ones([{n}]))).restore(tf.train.Checkpoint(v=tf.Variable(tf.ones([{n}]))).save(folder + '/x'))""",
    "examples": "e = tf.train.Example(features=tf.train.Features(feature=dict(a=tf.train.Feature(float_list=tf.train.FloatList(value=[1.0] * min({n}, 100000)))))).SerializeToString(); tf.io.parse_example([e] * 50, dict(a=tf.io.VarLenFeature(tf.float32)))",
    "async": """
tf.config.experimental.set_synchronous_execution(False)
x = tf.ones([{n}])
for _ in range(8): x = tf.concat([x, tf.sin(x[:{n}])], 0)
x.numpy()""",
    "list": "tf.function(lambda: tf.while_loop(lambda i, a: i < 64, lambda i, a: (i + 1, a.write(i, tf.ones([{n} // 8 + 1]))), [0, tf.TensorArray(tf.float32, 64)])[1].stack(), autograph=False)()",
}
PROGRAM = """
import resource, threading
import weft as tf
tf.reduce_sum(tf.random.uniform([1000000]) * 2).numpy()
if {warm}:
    tf.function(lambda x: x + 1, autograph=False)(1)
    list(tf.data.Dataset.range(3).map(lambda x: x + 1, num_parallel_calls=2).prefetch(1))
now = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (now + {room}, -1))
def call():
{call}
def attempt():
    try: call()
    except (MemoryError, RuntimeError, OSError, tf.errors.OpError, ValueError, TypeError, SystemError) as e: print(type(e).__name__, flush=True)
for _ in range({turns}): attempt()
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
assert (tf.constant([1, 2]) + 1).numpy().tolist() == [2, 3]
assert [int(x) for x in tf.data.Dataset.range(3).map(lambda x: x + 1, num_parallel_calls=2).prefetch(1)] == [1, 2, 3]
print("fine", flush=True)
"""


def attack(random, build):
    name = random.choice(list(CALLS))
    code = CALLS[name].format(n=random.choice([1000, 100_000, 1_000_000, 10_000_000]))
    body = "".join(f"    {line}\n" for line in code.strip().splitlines())
    room = int(2 ** random.uniform(12, 28))
    text = PROGRAM.format(
        warm=random.random() < 0.5, room=room, call=f"    # {name}\n{body}", turns=random.choice([1, 3])
    )
    outcome = support.child([sys.executable, "-c", text], seconds=120)
    problem = outcome.problem()
    # The interpreter and the loader may end for want of memory by themselves; they say so.
    if (
        problem
        and not outcome.hung
        and any(
            m in outcome.err
            for m in (
                "Fatal Python error",
                "cannot allocate memory in static TLS block",
                "failed to register TLS destructor",
            )
        )
    ):
        return None
    if (
        not problem
        and "fine" not in outcome.out
        and "MemoryError" not in outcome.err
        and "Cannot allocate" not in outcome.err
        and "cannot allocate" not in outcome.err
    ):
        problem = f"exit status {outcome.code}: {outcome.out[-200:]} {outcome.err[-800:]}"
    return problem and f"{problem}\n{text}"


if __name__ == "__main__":
    support.main(__doc__, attack, at_least=2)
