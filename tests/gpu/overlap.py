"""Batches that are copied beside the work: is each step's batch still its own when the step comes to read it again at its end?

The step is long and the batches are new memory each time, so that copies run ahead of steps. Beside: the same on the CPU. Results are kept, and read when all steps are queued, or by another
thread as Keras' callbacks do."""

import concurrent.futures
import sys
import time

import numpy as np

import weft as tf

steps, rows, width = (int(sys.argv[1]) if len(sys.argv) > 1 else 300), 128, 784
tf.config.experimental.enable_tensor_float_32_execution(False)
rng = np.random.default_rng(3)
weights = tf.constant((rng.standard_normal((width, width)) * (1 / width) ** 0.5).astype("f"))
batches = [rng.standard_normal((rows, width)).astype("f") for _ in range(steps)]


def step(x):
    z = x
    for _ in range(8):
        z = tf.tanh(tf.matmul(z, weights))
    return tf.reduce_sum(z * x)


compiled = tf.function(step, jit_compile=True)


@tf.function
def of_iterator(iterator):
    return tf.experimental.Optional.from_value(compiled(iterator.get_next()))


def batch_by_batch():
    return [compiled(tf.constant(x)) for x in batches]


def by_pipeline():
    iterator = iter(
        tf.data.Dataset.from_tensor_slices(np.concatenate(batches)).batch(rows, drop_remainder=True).prefetch(4)
    )
    return [of_iterator(iterator).get_value() for _ in range(steps)]


def read_by_threads():
    with concurrent.futures.ThreadPoolExecutor() as readers:
        iterator = iter(
            tf.data.Dataset.from_tensor_slices(np.concatenate(batches)).batch(rows, drop_remainder=True).prefetch(4)
        )
        return [f.result() for f in [readers.submit(float, of_iterator(iterator).get_value()) for _ in range(steps)]]


with tf.device("/device:CPU:0"):
    on_cpu = tf.constant(weights.numpy())
    want = []
    for x in batches:
        z = x
        for _ in range(8):
            z = np.tanh(z @ on_cpu.numpy())
        want.append(float((z * x).sum(dtype="d")))
scale = np.abs(want).max()
wrong = 0
for ways in (batch_by_batch, by_pipeline, read_by_threads):
    ways()  # compiled, recorded
    start = time.perf_counter()
    got = [float(v) for v in ways()]
    us = (time.perf_counter() - start) / steps * 1e6
    off = np.abs(np.array(got) - want) / scale
    wrong += int((off > 1e-4).sum())
    print(
        f"{ways.__name__:16} {int((off > 1e-4).sum())} of {steps} wrong, off by {off.max():.1e} at most, {us:.0f} us a step",
        flush=True,
    )
sys.exit(wrong > 0)
