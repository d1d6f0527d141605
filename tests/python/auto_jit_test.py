"""Functions that are compiled without being asked, and the cache of code on disk. Each test is a program of its own; expected values are from mathematics."""

import os
import pathlib
import subprocess
import sys

import pytest

HEAD = """
import os, signal, sys, threading, time
import numpy as np
import weft as tf

@tf.function
def f(x):
    return tf.while_loop(lambda i, y: i < 3000, lambda i, y: (i + 1, y * 0.5 + 1.0), (0, x))[1]
"""


def run(program, status=0, **environment):
    """What the program prints and its log; it must end by itself with that status."""
    settings = {"WEFT_JIT": "auto", "WEFT_JIT_THRESHOLD": "5", "WEFT_LOG": "0", **environment}
    child = subprocess.run(
        [sys.executable, "-c", HEAD + program],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **settings},
    )
    assert child.returncode == status, (child.returncode, child.stdout[-500:], child.stderr[-1500:])
    return child


# Calls until the log says what the measurement gave. A loop over scalars is so much faster as code that other programs on the machine do not change the result.
UNTIL_MEASURED = """
import tempfile
log = tempfile.TemporaryFile()
os.dup2(log.fileno(), 2)
x = tf.constant(3.0)
end = time.time() + 200
while b"measured" not in os.pread(log.fileno(), 1 << 20, 0) and time.time() < end:
    assert f(x).numpy() == 2.0
for _ in range(10):
    assert f(x).numpy() == 2.0
print(os.pread(log.fileno(), 1 << 20, 0).decode())
"""


# Sanitizers have a malloc of their own: then it has to be asked for.
@pytest.mark.parametrize("mode", ["auto"] if os.environ.get("LD_PRELOAD") else ["auto", ""])
def test_is_swapped_in_when_measured(mode):
    assert "runs compiled: measured" in run(UNTIL_MEASURED, WEFT_JIT=mode).stdout


@pytest.mark.parametrize(
    "environment, program",
    [
        ({"WEFT_JIT": "off"}, ""),
        ({"WEFT_JIT_EXACT": "1"}, ""),
        ({"WEFT_JIT_LIBRARY": "/nowhere/libweft_jit.so"}, ""),
        ({}, "tf.config.optimizer.set_jit(False)"),
        ({}, "tf.config.experimental.enable_op_determinism()"),
    ],
)
def test_turned_off(environment, program):
    child = run(
        program + "\nfor _ in range(40): assert f(tf.constant(3.0)).numpy() == 2.0\ntime.sleep(0.5)", **environment
    )
    assert "compiled" not in child.stderr.replace("are not compiled", "")


def test_end_while_compiling():
    many = "x = tf.constant(3.0)\n" + "\n".join(
        f"g{k} = tf.function(lambda x: sum((f(x * {k}.0) for _ in range(8)), 0.0))\nfor _ in range(6): g{k}(x)"
        for k in range(3)
    )
    for end, status in (("", 0), ("sys.exit(3)", 3), ("os._exit(4)", 4), ("raise SystemExit", 0)):
        run(many + "\n" + end, status)


def test_interrupt():
    out = run(
        """
@tf.function
def g(n):
    return tf.while_loop(lambda i: i < n, lambda i: i + 1, (tf.constant(0, tf.int64),))[0]
for _ in range(3):
    assert g(tf.constant(1000, tf.int64)).numpy() == 1000
signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
signal.setitimer(signal.ITIMER_REAL, 0.5)
start = time.time()
try:
    g(tf.constant(10**14, tf.int64))
except KeyboardInterrupt:
    print("interrupted", time.time() - start < 20)
print(g(tf.constant(10, tf.int64)).numpy())
""",
        WEFT_JIT="test",
    )
    assert out.stdout.split() == ["interrupted", "True", "10"]
    assert "compiled" in out.stderr


COMPILED = """
@tf.function(jit_compile=True)
def g(x):
    return tf.reduce_sum(tf.square(x) + 1.0, axis=1)
print(g(tf.constant([[1.0, 2.0], [3.0, 4.0]])).numpy().tolist())
"""


def contents(folder):
    return {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in pathlib.Path(folder).iterdir()}


def test_cache(tmp_path):
    folder = tmp_path / "cache"

    def compiled():
        child = run(COMPILED, WEFT_JIT="off", WEFT_CACHE_DIR=str(folder))
        assert child.stdout.strip() == "[7.0, 27.0]"

    compiled()
    first = contents(folder)
    assert len(first) == 1
    compiled()
    assert contents(folder) == first  # found, and so not written again
    (name, (_, whole)), *_ = first.items()
    for damaged in (
        whole[:100],
        whole[:-1],
        bytes(len(whole)),
        whole[: len(whole) // 2] + b"x" + whole[len(whole) // 2 + 1 :],
    ):
        (folder / name).write_bytes(damaged)
        compiled()
        assert (folder / name).read_bytes() == whole
    for environment in ({"WEFT_CACHE_DIR": "off"}, {"WEFT_CACHE_DIR": "/proc/self/nowhere"}):
        assert run(COMPILED, WEFT_JIT="off", **environment).stdout.strip() == "[7.0, 27.0]"
