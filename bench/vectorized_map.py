"""tf.vectorized_map and jacobians beside a loop, under weft and TensorFlow by turns, one thread.

    python3 bench/vectorized_map.py --weft PYTHON --tensorflow PYTHON [--rounds N]

PYTHON: interpreters that import weft and tensorflow (WEFT_EXTENSION_DIR and PYTHONPATH are passed on). Least times in
microseconds.
"""

import argparse
import collections
import json
import os
import subprocess
import sys

from packages import need

CHILD = r"""
import importlib, json, sys, time
import numpy as np
tf = importlib.import_module(sys.argv[1])
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
rng = np.random.RandomState(0)
data = lambda *s: tf.constant(rng.rand(*s).astype("f"))
w, k = data(64, 64), data(3, 3, 8, 16)
mlp = lambda a: tf.reduce_sum(tf.tanh(tf.linalg.matvec(w, a)))
def gradient(a):
    with tf.GradientTape() as t:
        t.watch(w)
        y = mlp(a)
    return t.gradient(y, w)
cases = {
    "mlp, 256 rows": (mlp, data(256, 64)),
    "per-example gradients, 64": (gradient, data(64, 64)),
    "solve 16x16, 64": (lambda a: tf.linalg.solve(a + 16 * tf.eye(16), a), data(64, 16, 16)),
    "convolution, 16": (lambda a: tf.nn.relu(tf.nn.conv2d(a, k, 1, "SAME")), data(16, 1, 16, 16, 8)),
    "cond by row, 256": (lambda a: tf.cond(tf.reduce_sum(a) > 32.0, lambda: a * 2, lambda: a - 1), data(256, 64)),
}
def jacobian(a):
    with tf.GradientTape() as t:
        t.watch(a)
        y = tf.tanh(tf.linalg.matvec(w, a))
    return t.jacobian(y, a)
def least(f):
    f(); f()
    best, start, n = 1e9, time.time(), 0
    while time.time() - start < 0.3 or n < 3:
        t = time.perf_counter(); f(); best = min(best, time.perf_counter() - t); n += 1
    return best * 1e6
out = {}
for name, (f, e) in cases.items():
    many, one_by_one = (lambda x: tf.vectorized_map(f, x)), (lambda x: tf.map_fn(f, x, fn_output_signature=tf.float32))
    inside, loop = tf.function(many), tf.function(one_by_one)
    out[name + ": eager"] = least(lambda: many(e))
    out[name + ": in a function"] = least(lambda: inside(e))
    out[name + ": loop in a function"] = least(lambda: loop(e))
x = data(64)
traced = tf.function(jacobian)
out["jacobian 64x64: eager"] = least(lambda: jacobian(x))
out["jacobian 64x64: in a function"] = least(lambda: traced(x))
print(json.dumps(out))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--tensorflow", required=True)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    need("numpy", "weft", python=options.weft)
    need("numpy", "tensorflow", python=options.tensorflow)
    best = collections.defaultdict(dict)
    for _ in range(options.rounds):
        for module, python in (("weft", options.weft), ("tensorflow", options.tensorflow)):
            env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", OMP_NUM_THREADS="1")
            run = subprocess.run(
                [python, "-c", CHILD, module], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            if run.returncode:
                sys.exit(f"{module} failed")
            for name, us in json.loads(run.stdout.splitlines()[-1]).items():
                best[name][module] = min(us, best[name].get(module, us))
    for name, by in best.items():
        times = by["tensorflow"] / by["weft"]
        print(f"{name:46} weft {by['weft']:9.0f}   tensorflow {by['tensorflow']:9.0f}   {times:7.1f} times")


if __name__ == "__main__":
    main()
