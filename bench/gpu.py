"""Training steps, dispatch, products, first ops and memory on one GPU, beside PyTorch and JAX.

gpu.py [--peers PEERS.py] [--only NAME,...] [--device NAME] [--quick]    one line a case: name, contender, median microseconds
gpu.py --part first          what the first eager op of this process costs, in milliseconds
gpu.py --part memory         peak memory of a step, growth over many steps, out of memory provoked
gpu.py --part fit            Keras' fit for mlp and cnn, microseconds a step: calls of one epoch, and further epochs of a call
gpu.py --part kernels        which launches of a step take how long, launched one by one with events between them

The networks are those of the peers' script: the same shapes, types and optimizer (Adam). Run it with PYTHONPATH of the package.
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--peers", help="script with the peers' side: PEERS.py torch|jax")
parser.add_argument("--only", default="")
parser.add_argument("--device", default="", help="/device:CPU:0: everything there")
parser.add_argument("--quick", action="store_true", help="few repetitions: does it run?")
parser.add_argument("--part", choices=("steps", "first", "memory", "kernels", "fit"), default="steps")
parser.add_argument(
    "--most", type=int, default=25, help="launches that --part kernels prints of a step, the longest first"
)
options = parser.parse_args()
only = set(filter(None, options.only.split(",")))

start = time.perf_counter()
import numpy as np  # noqa: E402

import weft as tf  # noqa: E402

imported = time.perf_counter() - start
rng = np.random.default_rng(1)


def wait():
    tf.test.experimental.sync_devices()


def median_us(step, reps):
    if options.quick:
        reps = 2
    for _ in range(2 if options.quick else 10):
        step()
    wait()
    out = []
    for _ in range(3 if options.quick else 7):
        t = time.perf_counter()
        for _ in range(reps):
            step()
        wait()
        out.append((time.perf_counter() - t) / reps * 1e6)
    return statistics.median(out)


def weights(shape, dtype, scale):
    return tf.Variable(tf.cast(rng.standard_normal(shape).astype("f") * scale, dtype))


def dense(i, o, dtype):
    return weights((i, o), dtype, (1 / i) ** 0.5), tf.Variable(tf.zeros([o], dtype))


def linear(p, x):
    return tf.matmul(x, p[0]) + p[1]


def conv(w, x, stride=1):
    return tf.nn.conv2d(x, w, stride, "SAME")


def mlp(p, x):
    return linear(p[2], tf.nn.relu(linear(p[1], tf.nn.relu(linear(p[0], x)))))


def cnn(p, x):
    pool = lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID")
    x = pool(tf.nn.relu(conv(p[0], x)))
    x = tf.reshape(pool(tf.nn.relu(conv(p[1], x))), [128, -1])
    return linear(p[3], tf.nn.relu(linear(p[2], x)))


def lstm(p, x):
    rows = tf.transpose(linear(p[0], tf.reshape(x, [-1, 28])), [0, 1])
    rows = tf.transpose(tf.reshape(rows, [128, 28, 512]), [1, 0, 2])
    zero = tf.zeros([128, 128])

    def cell(t, h, s):
        i, f, g, o = tf.split(rows[t] + tf.matmul(h, p[1][0]), 4, -1)
        s = tf.sigmoid(f) * s + tf.sigmoid(i) * tf.tanh(g)
        return t + 1, tf.sigmoid(o) * tf.tanh(s), s

    _, h, _ = tf.while_loop(lambda t, h, s: t < 28, cell, [0, zero, zero], maximum_iterations=28)
    return linear(p[2], h)


def convnet_bn(p, x):
    for (w,), stride in zip(p[:6], (1, 2, 1, 2, 1, 2)):
        m = tf.cast(conv(w, x, stride), tf.float32)
        mean = tf.reduce_mean(m, [0, 1, 2])
        variance = tf.reduce_mean(tf.square(m), [0, 1, 2]) - tf.square(mean)
        x = tf.cast(tf.nn.relu((m - mean) * tf.math.rsqrt(variance + 1e-5)), tf.bfloat16)
    return linear(p[6], tf.reduce_mean(x, [1, 2]))


def norm(x):
    m = tf.cast(x, tf.float32)
    mean = tf.reduce_mean(m, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(m - mean), -1, keepdims=True)
    return tf.cast((m - mean) * tf.math.rsqrt(variance + 1e-5), x.dtype)


def gpt4(p, x):
    b, t, e, heads = 8, 512, 1024, 16
    mask = tf.constant(np.triu(np.full((t, t), -1e9, "f"), 1))
    flat = lambda x: tf.reshape(x, [b * t, -1])
    for q_p, p_p, m_p, n_p in p:
        qkv = tf.transpose(tf.reshape(linear(q_p, flat(norm(x))), [b, t, 3, heads, e // heads]), [2, 0, 3, 1, 4])
        q, k, v = tf.unstack(qkv)
        scores = tf.cast(tf.matmul(q, k, transpose_b=True), tf.float32) * (heads / e) ** 0.5 + mask
        a = tf.matmul(tf.cast(tf.nn.softmax(scores), x.dtype), v)
        a = tf.reshape(tf.transpose(a, [0, 2, 1, 3]), [b * t, e])
        x = x + tf.reshape(linear(p_p, a), [b, t, e])
        hidden = tf.nn.gelu(linear(m_p, flat(norm(x))), approximate=True)
        x = x + tf.reshape(linear(n_p, hidden), [b, t, e])
    return x


def networks():
    f, h = tf.float32, tf.bfloat16
    ch = (3, 64, 128, 128, 256, 256, 512)
    return {
        "mlp": (mlp, lambda: [dense(784, 512, f), dense(512, 512, f), dense(512, 10, f)], (128, 784), f, 100),
        "cnn": (
            lambda p, x: cnn([p[0][0], p[1][0], p[2], p[3]], x),
            lambda: [(weights((3, 3, 1, 32), f, 0.05),), (weights((3, 3, 32, 64), f, 0.05),), dense(3136, 128, f), dense(128, 10, f)],
            (128, 28, 28, 1), f, 100,
        ),
        "lstm": (lstm, lambda: [dense(28, 512, f), (weights((128, 512), f, 0.05),), dense(128, 10, f)], (128, 28, 28), f, 50),
        "convnet_bn": (
            convnet_bn,
            lambda: [(weights((3, 3, a, b), h, 0.05),) for a, b in zip(ch, ch[1:])] + [dense(512, 10, h)],
            (256, 64, 64, 3), h, 30,
        ),
        "gpt4": (
            gpt4,
            lambda: [[dense(1024, 3072, h), dense(1024, 1024, h), dense(1024, 4096, h), dense(4096, 1024, h)] for _ in range(4)],
            (8, 512, 1024), h, 30,
        ),
    }  # fmt: skip


def training_step(name):
    """A function that makes one step, and what it returns: the loss."""
    net, parameters, shape, dtype, reps = networks()[name]
    p = parameters()
    flat = tf.nest.flatten(p)
    m, v = ([tf.Variable(tf.zeros_like(w)) for w in flat] for _ in range(2))
    powers = tf.Variable(1.0), tf.Variable(1.0)
    x = tf.cast(rng.standard_normal(shape).astype("f") * 0.5, dtype)
    y = tf.constant(rng.integers(0, 10, shape[0]).astype("i"))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            out = tf.cast(net(p, x), tf.float32)
            if name == "gpt4":
                loss = tf.reduce_mean(tf.square(out))
            else:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=out))
        gradients = tape.gradient(loss, flat)
        powers[0].assign(powers[0] * 0.9)
        powers[1].assign(powers[1] * 0.999)
        for w, a, b, g in zip(flat, m, v, gradients):
            number = lambda n: tf.cast(n, w.dtype)
            if (
                w.dtype != tf.float32
            ):  # 0.999 is 1 in bfloat16: as the peers' script does it, with the numbers of each step in float
                a.assign(number(0.9) * a + number(0.1) * g)
                b.assign(number(0.999) * b + number(0.001) * g * g)
                mean, variance = (tf.cast(s, tf.float32) / (1 - p) for s, p in zip((a, b), powers))
                w.assign(number(tf.cast(w, tf.float32) - 1e-3 * mean / (tf.sqrt(variance) + 1e-7)))
                continue
            tf.raw_ops.ResourceApplyAdam(
                var=w.handle, m=a.handle, v=b.handle, beta1_power=number(powers[0]), beta2_power=number(powers[1]),
                lr=number(1e-3), beta1=number(0.9), beta2=number(0.999), epsilon=number(1e-7), grad=g,
            )  # fmt: skip
        return loss

    return lambda: step(x, y), reps


def steps():
    for name in networks():
        if only and name not in only:
            continue
        try:
            t = time.perf_counter()
            step, reps = training_step(name)
            first = float(step())
            compiled = time.perf_counter() - t
            us = median_us(step, reps)
            print(
                f"{name} weft {us:.1f}   (first call {compiled:.1f} s, loss {first:.4f} to {float(step()):.4f})",
                flush=True,
            )
        except Exception as error:
            print(f"{name} weft failed {str(error)[:400]!r}", flush=True)
    if not only or "add" in only:
        a = tf.constant(rng.standard_normal(16).astype("f"))
        print(f"dispatch_add weft {median_us(lambda: a + a, 5000):.3f}", flush=True)
    for n, dtype in ((4096, tf.float32), (8192, tf.bfloat16)):
        if only and "matmul" not in only:
            continue
        p = tf.cast(rng.standard_normal((n, n)).astype("f"), dtype)
        us = median_us(lambda: tf.matmul(p, p), 20)
        print(f"matmul{n}_{dtype.name} weft {us:.1f} = {2 * n**3 / us / 1e6:.0f} TFLOP/s", flush=True)


def kernels():
    from weft import _weft as native

    for name in networks():
        if only and name not in only:
            continue
        step, _ = training_step(name)
        for _ in range(4):
            step()
        wait()
        rounds = []
        for _ in range(5):
            native.start_trace()
            step()
            wait()
            events = [e for e in native.stop_trace() if e[2].endswith("/stream:all")]
            rounds.append([(e[1], e[0], (e[4] - e[3]) / 1e3) for e in events])
        launches = [
            (rounds[0][i][0], rounds[0][i][1], statistics.median(r[i][2] for r in rounds))
            for i in range(len(rounds[0]))
        ]
        without = os.environ.get("WEFT_GPU_WITHOUT")
        print(
            f"{name}: {len(launches)} launches, {sum(t for *_, t in launches):.0f} us"
            + (f" without {without}" if without else "")
        )
        if not options.most:
            continue
        kinds = {}
        for kernel, _, us in launches:
            kind = kernel.split("_")[-1]
            kinds[kind] = kinds.get(kind, 0) + us
        print("  by kind: " + ", ".join(f"{k} {us:.0f}" for k, us in sorted(kinds.items(), key=lambda x: -x[1])))
        for number, (kernel, node, us) in sorted(enumerate(launches), key=lambda x: -x[1][2])[: options.most]:
            print(f"  {us:9.1f} us  {number:4} {kernel:32} {node}")


def fit():
    """Whole epochs of fit(), whose data is in memory: what a step costs with everything around it."""
    from weft import keras

    layers = keras.layers
    models = {
        "mlp": ([layers.Dense(512, activation="relu"), layers.Dense(512, activation="relu"), layers.Dense(10)], (784,)),
        "cnn": (
            [
                layers.Conv2D(32, 3, padding="same", activation="relu"), layers.MaxPooling2D(),
                layers.Conv2D(64, 3, padding="same", activation="relu"), layers.MaxPooling2D(),
                layers.Flatten(), layers.Dense(128, activation="relu"), layers.Dense(10),
            ],
            (28, 28, 1),
        ),
    }  # fmt: skip
    steps_of_epoch = 5 if options.quick else 200
    for name, (stack, shape) in models.items():
        if only and name not in only:
            continue
        model = keras.Sequential(stack)
        model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        x = rng.standard_normal((128 * steps_of_epoch, *shape)).astype("f")
        y = rng.integers(0, 10, len(x)).astype("i")
        model.fit(x, y, batch_size=128, epochs=2, verbose=0)

        # Whole calls, and epochs alone: a call brings the data into a pipeline first.
        def seconds(epochs, clock=time.perf_counter):
            start = clock()
            model.fit(x, y, batch_size=128, epochs=epochs, verbose=0)
            return clock() - start

        def batches():
            from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter  # on weft by now

            start = time.perf_counter()
            for _ in ArrayDataAdapter(x, y, batch_size=128, shuffle=True).get_tf_dataset():
                pass
            return time.perf_counter() - start

        rounds = range(2 if options.quick else 5)
        each = lambda times: statistics.median(times) / steps_of_epoch * 1e6
        calls = [seconds(1) for _ in rounds]
        more = [(seconds(5) - statistics.median(calls)) / 4 for _ in rounds]
        print(
            f"{name} fit {each(calls):.1f}   (epochs after the first {each(more):.1f}; of a call the main thread works {each([seconds(1, time.thread_time) for _ in rounds]):.1f}, "
            f"the data alone take {each([batches() for _ in rounds]):.1f})",
            flush=True,
        )


def first():
    t = time.perf_counter()
    a = tf.constant([1.0, 2.0])
    placed = time.perf_counter()
    b = (a + a).numpy()
    print(
        f"import {imported * 1e3:.0f} ms, first tensor {(placed - t) * 1e3:.0f} ms, first op and its value {(time.perf_counter() - placed) * 1e3:.0f} ms ({b[1]})"
    )


def memory():
    info = lambda: tf.config.experimental.get_memory_info("GPU:0")
    for name in ("mlp", "cnn", "gpt4"):
        step, _ = training_step(name)
        for _ in range(3):
            step()
        wait()
        tf.config.experimental.reset_memory_stats("GPU:0")
        step()
        wait()
        before, peak = info()["current"], info()["peak"]
        for _ in range(20 if options.quick else 300):
            step()
        wait()
        print(
            f"memory {name}: peak {peak / 2**20:.1f} MiB, held {before / 2**20:.1f} MiB, after more steps {info()['current'] / 2**20:.1f} MiB",
            flush=True,
        )
    survived = 0
    for _ in range(3 if options.quick else 100):
        held = []
        try:
            while True:
                held.append(tf.zeros([1 << 32], tf.float32))
        except tf.errors.ResourceExhaustedError:
            survived += 1
        del held
    print(f"out of memory: survived {survived} times; then {float(tf.reduce_sum(tf.ones([1000]))):.0f}", flush=True)


# Where nobody says otherwise everything goes to the first GPU; calls in a device scope take another way.
with tf.device(options.device) if options.device else contextlib.nullcontext():
    {"steps": steps, "first": first, "memory": memory, "kernels": kernels, "fit": fit}[options.part]()
if options.peers and options.part == "steps":
    for side in ("torch", "jax"):
        environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
        subprocess.run([sys.executable, options.peers, side], check=False, env=environment)
