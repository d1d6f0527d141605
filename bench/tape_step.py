#!/usr/bin/env python3
"""Eager training steps of weft and of TensorFlow, one after the other in the same run: tape_step.py BUILD_DIR [SCALE]."""

import pathlib
import subprocess
import sys
import tempfile
import time

from packages import need


def median_us(f):
    for _ in range(10):
        f()
    rounds = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(20):
            f()
        rounds.append((time.perf_counter() - start) / 20 * 1e6)
    return sorted(rounds)[len(rounds) // 2]


def main():
    need("tensorflow")
    build, scale = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    here = pathlib.Path(__file__).resolve().parent
    ours = {}
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(build).resolve() / "src"
        subprocess.run(
            [
                "c++",
                "-std=c++20",
                "-O2",
                "-I",
                here.parent / "include",
                here / "tape_step.cc",
                "-L",
                library,
                "-lweft",
                f"-Wl,-rpath,{library}",
                "-o",
                f"{folder}/tape_step",
            ],
            check=True,
        )
        for line in subprocess.run(
            [f"{folder}/tape_step", str(scale)], check=True, capture_output=True, text=True
        ).stdout.splitlines():
            name, value = line.split()
            ours[name] = float(value)

    import tensorflow as tf

    inputs, hidden = 784 // scale, 128 // scale
    w1 = tf.Variable(tf.random.uniform([inputs, hidden], -0.05, 0.05))
    b1 = tf.Variable(tf.zeros([hidden]))
    w2 = tf.Variable(tf.random.uniform([hidden, 10], -0.05, 0.05))
    b2 = tf.Variable(tf.zeros([10]))
    x = tf.random.uniform([32, inputs], -0.5, 0.5)
    y = tf.constant([i % 10 for i in range(32)])
    variables = [w1, b1, w2, b2]
    rate = tf.constant(0.01)

    def loss_of():
        h = tf.nn.relu(tf.matmul(x, w1) + b1)
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(h, w2) + b2))

    def step():
        with tf.GradientTape() as tape:
            loss = loss_of()
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(rate * g)
        return loss

    add = tf.function(lambda a: a + a)
    one = tf.constant(1.0)
    theirs = {
        "forward": median_us(loss_of),
        "tape_step": median_us(step),
        "function_step": median_us(tf.function(step)),
        "call_1": median_us(lambda: add(one)),
    }
    print(f"TensorFlow {tf.__version__}, sizes divided by {scale}, microseconds")
    print(f"{'':14}{'weft':>10}{'tensorflow':>12}{'times':>8}")
    for name, value in theirs.items():
        print(f"{name:14}{ours[name]:10.1f}{value:12.1f}{value / ours[name]:8.1f}")


if __name__ == "__main__":
    main()
