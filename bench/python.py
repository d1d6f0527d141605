"""From Python, one thread, the same work under weft, TensorFlow, PyTorch and JAX, interleaved: medians over rounds, and ratios (the peer's time over ours).

    python.py [--weft "PYTHON of build/venv"] [--tensorflow PYTHON] [--torch PYTHON] [--jax PYTHON] [--rounds 3]

PYTHON: an interpreter that has the package. Measured: import (seconds, resident memory), a + b on scalars, a 64x64 matmul, a tape step of an MLP, a call of a
function of one op, an MLP train step in a function."""

import argparse
import collections
import os
import pathlib
import statistics
import subprocess
import sys
import time

from packages import need

WORK = ["add", "matmul64", "tape_step", "function_call", "function_train"]
IMPORTS = {"weft": "weft", "tensorflow": "tensorflow", "torch": "torch", "jax": "jax.numpy"}
SIZES = dict(batch=32, features=64, hidden=128, classes=10)


def timed(f, least=0.3):
    """Seconds per call: enough calls for `least`, the median of five such rows."""
    f()
    n = 1
    while True:
        start = time.perf_counter()
        for _ in range(n):
            f()
        took = time.perf_counter() - start
        if took > least / 5:
            break
        n = max(n * 2, int(n * least / 5 / max(took, 1e-9)))
    rows = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(n):
            f()
        rows.append((time.perf_counter() - start) / n)
    return statistics.median(rows)


def data():
    import numpy as np

    r = np.random.RandomState(0)
    s = SIZES
    return (
        r.randn(s["batch"], s["features"]).astype("float32"),
        r.randint(0, s["classes"], s["batch"]).astype("int32"),
        (r.randn(s["features"], s["hidden"]) * 0.1).astype("float32"),
        np.zeros(s["hidden"], "float32"),
        (r.randn(s["hidden"], s["classes"]) * 0.1).astype("float32"),
        np.zeros(s["classes"], "float32"),
    )


def tensorflow_work(tf):
    x, y, w1, b1, w2, b2 = data()
    a, b = tf.constant(1.0), tf.constant(2.0)
    m, k = tf.ones([64, 64]), tf.ones([64, 64])
    x, y = tf.constant(x), tf.constant(y)
    variables = [tf.Variable(v) for v in (w1, b1, w2, b2)]

    def loss():
        h = tf.nn.relu(tf.matmul(x, variables[0]) + variables[1])
        logits = tf.matmul(h, variables[2]) + variables[3]
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))

    def step():
        with tf.GradientTape() as tape:
            value = loss()
        for v, g in zip(variables, tape.gradient(value, variables)):
            v.assign_sub(0.01 * g)
        return value

    f = tf.function(lambda v: v + v)
    train = tf.function(step)
    return {
        "add": lambda: a + b,
        "matmul64": lambda: tf.matmul(m, k),
        "tape_step": step,
        "function_call": lambda: f(a),
        "function_train": train,
    }


def torch_work():
    import torch

    torch.set_num_threads(1)
    x, y, *values = [torch.from_numpy(v) for v in data()]
    y = y.long()
    a, b = torch.tensor(1.0), torch.tensor(2.0)
    m, k = torch.ones(64, 64), torch.ones(64, 64)
    w1, b1, w2, b2 = parameters = [v.clone().requires_grad_(True) for v in values]

    def step():
        h = torch.relu(x @ w1 + b1)
        value = torch.nn.functional.cross_entropy(h @ w2 + b2, y)
        grads = torch.autograd.grad(value, parameters)
        with torch.no_grad():
            for p, g in zip(parameters, grads):
                p.sub_(0.01 * g)
        return value

    f = torch.jit.trace(lambda v: v + v, a)
    return {
        "add": lambda: a + b,
        "matmul64": lambda: m @ k,
        "tape_step": step,
        "function_call": lambda: f(a),
        "function_train": step,
    }


def jax_work():
    import jax
    import jax.numpy as jnp

    x, y, *values = [jnp.asarray(v) for v in data()]
    a, b = jnp.float32(1.0), jnp.float32(2.0)
    m, k = jnp.ones((64, 64)), jnp.ones((64, 64))

    def loss(parameters):
        w1, b1, w2, b2 = parameters
        logits = jnp.maximum(x @ w1 + b1, 0) @ w2 + b2
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1))

    def step(parameters):
        value, grads = jax.value_and_grad(loss)(parameters)
        return value, [p - 0.01 * g for p, g in zip(parameters, grads)]

    state = {"p": list(values)}
    compiled = jax.jit(step)
    f = jax.jit(lambda v: v + v)

    def run(function):
        def call():
            value, state["p"] = function(state["p"])
            return value.block_until_ready()

        return call

    return {
        "add": lambda: (a + b).block_until_ready(),
        "matmul64": lambda: (m @ k).block_until_ready(),
        "tape_step": run(step),
        "function_call": lambda: f(a).block_until_ready(),
        "function_train": run(compiled),
    }


def side(which):
    if which == "torch":
        work = torch_work()
    elif which == "jax":
        work = jax_work()
    else:
        import importlib

        tf = importlib.import_module(which)
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        work = tensorflow_work(tf)
    for name in WORK:
        print(name, timed(work[name]), flush=True)


def memory_of(python, module, environment):
    """Seconds and bytes of an import, beside those of an empty program."""
    code = f"import time; s = time.perf_counter(); import {module}; t = time.perf_counter() - s; import resource; print(t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    out = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, env=environment, check=True
    ).stdout.split()
    return float(out[-2]), int(out[-1]) / 1024


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument(
        "--weft",
        default="build/venv/bin/python",
        help="an interpreter that has numpy; the package is taken from build/python",
    )
    p.add_argument("--tensorflow")
    p.add_argument("--torch")
    p.add_argument("--jax")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--side", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.side:
        return side(a.side)
    package = str(pathlib.Path(__file__).resolve().parent.parent / "build/python")
    environment = dict(
        os.environ,
        PYTHONPATH=os.environ.get("WEFT_PACKAGE", package),
        TF_CPP_MIN_LOG_LEVEL="3",
        OMP_NUM_THREADS="1",
        MKL_NUM_THREADS="1",
        XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
        JAX_PLATFORMS="cpu",
        CUDA_VISIBLE_DEVICES="",
    )
    peers = {name: python for name in IMPORTS if (python := getattr(a, name))}
    for name, python in peers.items():
        need("numpy", *([] if name == "weft" else [name]), python=python)
    times = collections.defaultdict(list)
    for _ in range(a.rounds):
        for name, python in peers.items():
            seconds, megabytes = memory_of(python, IMPORTS[name], environment)
            times["import", name].append(seconds)
            times["import MB", name].append(megabytes)
        for name, python in peers.items():
            out = subprocess.run(
                ["taskset", "-c", "0", python, __file__, "--side", name],
                capture_output=True,
                text=True,
                env=environment,
            )
            if out.returncode:
                print(name, "failed:", out.stderr[-2000:])
            for line in out.stdout.splitlines():
                what, value = line.split()
                times[what, name].append(float(value) * 1e6)
    print(f"{'':16s}" + "".join(f"{n:>22s}" for n in peers))
    for what in ["import", "import MB", *WORK]:
        row, mine = "", None
        for name in peers:
            if not times[what, name]:
                row += f"{'-':>22s}"
                continue
            value = statistics.median(times[what, name])
            mine = mine or value
            text = (
                f"{value * 1000:.0f} ms"
                if what == "import"
                else f"{value:.0f} MB"
                if what == "import MB"
                else f"{value:.2f} us"
            )
            row += f"{text:>14s} {value / mine:7.2f}"
        print(f"{what:16s}{row}")


if __name__ == "__main__":
    sys.exit(main())
