"""A process around the engine: the end of the interpreter while threads run, Ctrl-C, forks, memory and threads that are not available. Each test is a program of its own."""

import os
import subprocess
import sys
import time

import pytest

# numpy, which weft loads when it is first needed, comes before limits: they are not for its import.
HEAD = """
import os, resource, signal, sys, threading, time
import numpy
import weft as tf
def thread(code): threading.Thread(target=code, daemon=True).start()
"""


def run(program, status=0, seconds=60):
    """What the program prints; it must end by itself with that status."""
    child = subprocess.run([sys.executable, "-c", HEAD + program], capture_output=True, text=True, timeout=seconds)
    assert child.returncode == status, (child.returncode, child.stdout[-500:], child.stderr[-1500:])
    return child


BUSY = {
    "op": "a = tf.random.normal([500, 500])\ndef work():\n  while True: tf.matmul(a, a)\nthread(work)\nthread(work)",
    "function": "f = tf.function(lambda: tf.while_loop(lambda i: i < 10**9, lambda i: i + 1, [tf.constant(0)]), autograph=False)\nthread(f)\nthread(f)",
    "py_function": "def work():\n  while True: tf.py_function(lambda x: x + 1, [tf.ones([100])], tf.float32)\nthread(work)\nthread(work)",
    "sleeping_py_function": "thread(lambda: tf.numpy_function(lambda: time.sleep(0.35), [], []))",
    "generator": "def g():\n  while True: yield 1\nit = iter(tf.data.Dataset.from_generator(g, output_signature=tf.TensorSpec([], tf.int32)).prefetch(2))\nnext(it)",
    "parallel_map": "it = iter(tf.data.Dataset.range(10**9).map(lambda x: tf.py_function(lambda v: v + 1, [x], tf.int64), num_parallel_calls=3).prefetch(2))\nnext(it)",
    "queue": "q = tf.queue.FIFOQueue(3, tf.float32)\nthread(q.dequeue)",
    "gradient": """
def work():
  x = tf.Variable(tf.ones([100]))
  while True:
    with tf.GradientTape() as t: y = tf.reduce_sum(tf.py_function(lambda v: v * v, [x], tf.float32))
    t.gradient(y, x)
thread(work)
thread(work)""",
}


@pytest.mark.parametrize("end,status", [("", 0), ("sys.exit(3)", 3), ("raise ValueError('the end')", 1)])
@pytest.mark.parametrize("busy", list(BUSY))
def test_exit_while_busy(busy, end, status):
    child = run(f"{BUSY[busy]}\ntime.sleep(0.3)\nprint(time.time(), flush=True)\n{end}\n", status)
    assert time.time() - float(child.stdout) < 5  # a second, on a machine that has nothing else to do
    assert status == 1 or child.stderr == ""


INTERRUPT = """
came = []
def interrupt():
  time.sleep(0.4)
  came.append(time.monotonic())
  os.kill(os.getpid(), signal.SIGINT)
thread(interrupt)
try:
  call()
  print("not interrupted")
except KeyboardInterrupt:
  took = time.monotonic() - came[0]
  assert took < 3, took  # half a second, on an idle machine
  assert (tf.constant([1, 2]) + 1).numpy().tolist() == [2, 3]
  assert tf.function(lambda x: tf.reduce_sum(x), autograph=False)(tf.ones([5])).numpy() == 5
  assert [int(x) for x in tf.data.Dataset.range(3).prefetch(1)] == [0, 1, 2]
  print("interrupted")
"""
LONG = {
    "while_loop": "def call(): tf.while_loop(lambda i: i < 10**9, lambda i: [i + 1], [tf.constant(0)])",
    "function": "f = tf.function(lambda n: tf.while_loop(lambda i: i < n, lambda i: i + 1, [tf.constant(0)]), autograph=False)\nf(tf.constant(3))\ndef call(): f(tf.constant(10**9))",
    "first_call": "f = tf.function(lambda: tf.while_loop(lambda i: i < 10**9, lambda i: i + 1, [tf.constant(0)]), autograph=False)\ndef call(): f()",
    "recorded": """
f = tf.function(lambda x: tf.while_loop(lambda i, x: i < 10**9, lambda i, x: (i + 1, tf.sin(x)), [tf.constant(0), x])[1], autograph=False)
def call():
  with tf.GradientTape() as t: f(tf.Variable(1.0))""",
    "compiled": """
f = tf.function(lambda n: tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, tf.sin(x)), [tf.constant(0), tf.ones([100])]), autograph=False, jit_compile=True)
f(tf.constant(3))
def call(): f(tf.constant(10**9))""",
    "filter": "def call(): next(iter(tf.data.Dataset.range(10**12).filter(lambda x: x < 0)))",
    "reduce": "def call(): tf.data.Dataset.range(10**12).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)",
    "dequeue": "def call(): tf.queue.FIFOQueue(3, tf.float32).dequeue()",
    "session": """
with tf.Graph().as_default():
  q = tf.compat.v1.FIFOQueue(3, tf.float32)
  value, session = q.dequeue(), tf.compat.v1.Session()
def call(): session.run(value)""",
    "session_kernel": """
with tf.Graph().as_default():
  a = tf.random.uniform([8000, 8000])
  value, session = tf.reduce_sum(tf.matmul(a, a)), tf.compat.v1.Session()
def call(): session.run(value)""",
    "sort": "a = tf.random.uniform([60_000_000])\ndef call(): tf.sort(a)",
}


@pytest.mark.parametrize("long", list(LONG))
def test_interrupt(long):
    assert run(LONG[long] + INTERRUPT).stdout == "interrupted\n"


# An interrupt when numpy has just begun, and while its extension loads, which cannot be done again.
@pytest.mark.parametrize("module", ["numpy.version", "numpy.dtypes"])
def test_interrupt_while_numpy_is_loaded(module):
    program = f"""
import signal, sys, time, warnings
import weft as tf
assert "numpy" not in sys.modules
warnings.simplefilter("error")  # numpy warns where it is loaded twice
class Interrupts:
  def find_spec(self, name, path=None, target=None):
    if name == {module!r}:
      sys.meta_path.remove(self)
      signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
try:
  tf.constant([1, 2]).numpy()
  time.sleep(5)
  print("not interrupted")
except KeyboardInterrupt:
  print("interrupted")
import numpy as np
print(tf.constant(np.arange(3)).numpy().tolist(), np.__spec__.loader.__class__.__module__, signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert child.stdout == "interrupted\n[0, 1, 2] _frozen_importlib_external True\n", child.stderr[-1500:]


def test_deadline_of_a_kernel():
    """A session's deadline ends a run whose kernel takes longer; the session is usable at once."""
    text = run("""
v1 = tf.compat.v1
with tf.Graph().as_default():
  a = tf.random.uniform([8000, 8000])
  long, short = tf.reduce_sum(tf.matmul(a, a)), tf.constant(1) + 2
  session = v1.Session()
  start = time.monotonic()
  try: session.run(long, options=v1.RunOptions(timeout_in_ms=300))
  except tf.errors.DeadlineExceededError as e: print(str(e).splitlines()[-1], time.monotonic() - start < 3)
  print(session.run(short, options=v1.RunOptions(timeout_in_ms=60_000)), session.run(short))
  session.close()
""").stdout
    assert text == "Timed out waiting for notification True\n3 3\n", text


FORK = """
def use():
  assert (tf.random.uniform([300, 300]) @ tf.ones([300, 300])).shape == [300, 300]
  assert tf.function(lambda x: tf.reduce_sum(x), autograph=False)(tf.ones([100000])).numpy() == 100000
  assert [int(x) for x in tf.data.Dataset.range(3).map(lambda x: x + 1, num_parallel_calls=2).prefetch(1)] == [1, 2, 3]
use()
def work():
  a = tf.random.uniform([300, 300])
  while True: tf.matmul(a, a)
thread(work)
for i in range(5):
  child = os.fork()
  if not child:
    signal.alarm(30)
    use()
    os._exit(7)
  assert os.waitpid(child, 0)[1] >> 8 == 7
print("fine", flush=True)
os._exit(0)
"""


def test_fork_while_busy():
    assert run(FORK).stdout == "fine\n"


FORK_WHILE_TRACING = """
variable = tf.Variable(1.0)
counts = [0] * 3
def use():
  assert tf.function(lambda x: tf.reduce_sum(x) + variable)(tf.ones([100])).numpy() == 101
  assert shared(tf.ones([counts[0] % 7 + 1])).shape == []
  with tf.GradientTape() as t: y = tf.map_fn(lambda x: x * variable, tf.ones([5]))
  t.gradient(y, variable)
@tf.function
def shared(x): return tf.reduce_sum(x * variable)
def trace():
  while True:
    tf.function(lambda x: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [x]))(counts[0]); counts[0] += 1
def shapes():
  while True: shared(tf.ones([counts[1] % 500 + 1])); counts[1] += 1
def kernels():
  while True: tf.strings.as_string(tf.ones([2]), width=counts[2]); variable.assign_add(0.0); counts[2] += 1
for f in trace, shapes, kernels: thread(f)
for i in range(12):
  child = os.fork()
  if not child:
    signal.alarm(30)
    use()
    os._exit(7)
  assert os.waitpid(child, 0)[1] >> 8 == 7
  time.sleep(0.02 * i)
print("fine", all(counts), flush=True)
os._exit(0)
"""


def test_fork_while_tracing():
    assert run(FORK_WHILE_TRACING).stdout == "fine True\n"


def test_iterator_in_a_fork():
    text = run("""
it = iter(tf.data.Dataset.range(100).map(lambda x: x + 1, num_parallel_calls=2).prefetch(1))
next(it)
child = os.fork()
if not child:
  signal.alarm(30)
  try: next(it)
  except tf.errors.FailedPreconditionError as e: print("error:", "fork" in str(e), flush=True)
  os._exit(0)
os.waitpid(child, 0)
print(int(next(it)))
""").stdout
    assert text == "error: True\n2\n"


# A sanitizer's runtime ends the process where it gets no memory.
needs_limits = pytest.mark.skipif(
    "san.so" in os.environ.get("LD_PRELOAD", ""), reason="address space cannot be limited under a sanitizer"
)


@needs_limits
def test_no_more_threads():
    program = """
tf.ones([3]) + 1
threading.stack_size()
resource.setrlimit(resource.RLIMIT_AS, (size() + (3 << 20), size() + (3 << 20)))  # less than the stack of a thread
print([int(x) for x in tf.data.Dataset.range(3).map(lambda x: x + 1, num_parallel_calls=2).prefetch(1)])
"""
    child = run("def size(): return int(open('/proc/self/statm').read().split()[0]) * 4096\n" + program)
    assert child.stdout == "[1, 2, 3]\n"


@needs_limits
def test_no_more_memory_on_threads():
    program = """
def size(): return int(open('/proc/self/statm').read().split()[0]) * 4096
ds = tf.data.Dataset.range(5).map(lambda x: tf.zeros([1 << 20]), num_parallel_calls=2).prefetch(2)
it = iter(ds)
next(it)
limit = size() + (200 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
big = iter(tf.data.Dataset.range(3).map(lambda x: tf.strings.reduce_join(tf.repeat([tf.strings.as_string(x)], 200_000_000)), num_parallel_calls=2).prefetch(2))
try:
  for x in big: pass
  print("no error")
except tf.errors.ResourceExhaustedError as e: print("exhausted")
print(int(tf.reduce_sum([1, 2])))
"""
    assert run(program).stdout == "exhausted\n3\n"


def test_import_loads_little():
    """`import weft` is quick because it loads little: not numpy, which takes longer than all of it, not protobuf, not what is behind most names."""
    program = "import sys, weft\nprint([m for m in ('numpy', 'ml_dtypes', 'google.protobuf', 'keras', 'absl') if m in sys.modules], len([m for m in sys.modules if m.startswith('weft')]))"
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240)
    loaded, number = made.stdout.rsplit(" ", 1)
    assert loaded == "[]" and int(number) <= 25, made.stdout + made.stderr
