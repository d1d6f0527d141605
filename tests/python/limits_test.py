"""What must hold for long-running programs: no growth, threads, the interpreter lock."""

import gc
import resource
import threading
import time

import numpy as np
import pytest

import weft as tf

CALLS = 100_000


def _megabytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize() / 2**20


def _growth(f, calls=CALLS):
    for _ in range(2000):
        f()
    gc.collect()
    before = _megabytes()
    for _ in range(calls):
        f()
    gc.collect()
    return _megabytes() - before


a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
variable = tf.Variable([1.0, 2.0])
double = tf.function(lambda x: x + x)


def _tape():
    with tf.GradientTape() as tape:
        y = variable * a
    return tape.gradient(y, variable)


@pytest.mark.parametrize(
    "f, calls",
    [
        (lambda: a + b, CALLS),
        (lambda: tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]), CALLS),
        (lambda: tf.constant([[1, 2], [3, 4]]).numpy(), CALLS),
        (lambda: np.asarray(a), CALLS),
        (lambda: variable.assign_add(a), CALLS),
        (lambda: a[0], CALLS),
        (lambda: double(a), CALLS),
        (_tape, CALLS // 2),
    ],
    ids=["add", "matmul", "numpy", "asarray", "assign", "slice", "function", "tape"],
)
def test_no_growth(f, calls):
    assert _growth(f, calls) < 3


def test_errors_do_not_grow():
    def fail():
        try:
            a + tf.constant([1.0, 2.0, 3.0])
        except tf.errors.InvalidArgumentError:
            pass

    assert _growth(fail, 20_000) < 3


def test_functions_go_with_their_last_holder():
    def traced():
        tf.function(lambda x: x * 2.0)(a)

    assert _growth(traced, 300) < 8


def test_long_kernels_release_the_lock():
    big = tf.ones([1200, 1200])
    ticks, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0)

    other = threading.Thread(target=count)
    other.start()
    try:
        before = ticks[0]
        for _ in range(3):
            tf.matmul(big, big)
        during = ticks[0] - before
    finally:
        stop.set()
        other.join()
    assert during > 20


def test_sixteen_threads_call_one_function():
    f = tf.function(lambda x, k: tf.reduce_sum(x * x) + k)
    wrong = []

    def work(k):
        for i in range(50):
            x = tf.constant([float(k), float(i)])
            if abs(float(f(x, tf.constant(1.0))) - (k * k + i * i + 1)) > 1e-3:
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_tapes_are_of_their_thread():
    results = {}

    def work(k):
        x = tf.constant(float(k))
        for _ in range(100):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            results[k] = float(tape.gradient(y, x))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: 2.0 * k for k in range(8)}
