"""Forks while the engine is busy, from Python (os.fork, multiprocessing) and from C++, and uses it in the child: that works or is an error, and never hangs."""

import sys

import support
from exit_attack import HEAD, PARTS

USES = {
    "ops": "assert (tf.ones([400, 400]) @ tf.ones([400, 400])).numpy()[0, 0] == 400",
    "large": "assert tf.reduce_sum(tf.random.uniform([3000000]) * 0 + 1).numpy() == 3000000",
    "function": "assert tf.function(lambda x: tf.reduce_sum(x), autograph=False)(tf.ones([5])).numpy() == 5",
    "known_function": "assert known(tf.ones([5])).numpy() == 10",
    "dataset": "assert [int(x) for x in tf.data.Dataset.range(3).map(lambda x: x + 1, num_parallel_calls=2).prefetch(1)] == [1, 2, 3]",
    "generator": "assert [int(x) for x in tf.data.Dataset.from_generator(lambda: range(3), output_signature=tf.TensorSpec([], tf.int32)).prefetch(1)] == [0, 1, 2]",
    "variable": "variable.assign_add(1.0); assert variable.numpy() > 0",
    "queue": "q = tf.queue.FIFOQueue(3, tf.float32); q.enqueue(1.0); assert q.dequeue().numpy() == 1",
    "session": "s = tf.compat.v1.Session(graph=graph); assert s.run(c) == 4",
    "gradient": """
with tf.GradientTape() as t: y = tf.reduce_sum(variable * tf.ones([1000]))
assert t.gradient(y, variable).numpy() == 1000""",
    "map": "assert tf.map_fn(lambda x: x + 1, tf.range(10)).numpy()[9] == 10",
    "old_iterator": """
try: next(old)
except tf.errors.OpError as e: pass""",
}
BUSY = [p for p in PARTS if p not in ("async", "profiler", "service")]
SETUP = """
known = tf.function(lambda x: tf.reduce_sum(x * 2), autograph=False)
known(tf.ones([5]))
variable = tf.Variable(1.0)
with tf.Graph().as_default() as graph: c = tf.constant(1) + 3
old = iter(tf.data.Dataset.range(1000).map(lambda x: x + 1, num_parallel_calls=2).prefetch(1))
next(old)
"""
FORKS = {
    "fork": """
for _ in range({times}):
    child = os.fork()
    if not child:
        signal.alarm(30)
        try:
            use()
            os._exit(7)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert status == 7 << 8, status
""",
    "multiprocessing": """
import multiprocessing
context = multiprocessing.get_context("fork")
for _ in range({times}):
    child = context.Process(target=use)
    child.start()
    child.join(40)
    assert child.exitcode == 0, child.exitcode
""",
}


def attack(random, build):
    if random.random() < 0.25:
        outcome = support.child([build.program("busy_process"), "fork", str(random.randrange(1 << 30))], seconds=120)
        return outcome.problem() or (outcome.code and f"exit status {outcome.code}: {outcome.err[-300:]}") or None
    text = HEAD + "import signal\n" + SETUP
    for i in range(random.choice([0, 1, 2])):
        code = PARTS[random.choice(BUSY)].format(
            n=f"p{i}", size=random.choice([1, 10, 10000]), pause=random.choice([0.05, 30])
        )
        text += "\n".join(line[8:] for line in code.splitlines()) + "\n"
    uses = random.sample(list(USES), 3)
    text += "def use():\n" + "".join("".join(f"    {line}\n" for line in USES[u].strip().splitlines()) for u in uses)
    text += f"time.sleep({random.choice([0, 0.05, 0.2, 1])})\nshutil.rmtree(here, ignore_errors=True)\n"
    text += (
        random.choice(list(FORKS.values())).format(times=random.choice([1, 3]))
        + "print('fine', flush=True)\nos._exit(0)\n"
    )
    outcome = support.child([sys.executable, "-c", text], seconds=150)
    problem = outcome.problem() or (
        f"exit status {outcome.code}: {outcome.err[-800:]}" if outcome.code or "fine" not in outcome.out else None
    )
    return problem and f"{problem}\n{text}"


if __name__ == "__main__":
    support.main(__doc__, attack, at_least=2)
