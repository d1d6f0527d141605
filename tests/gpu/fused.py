"""Ways of computing that a GPU has for several ops at once, beside the CPU, and the same without each of them.

  python tests/gpu/fused.py [--quick]

Each case runs in processes of its own: on the CPU, on the GPU, and on the GPU without one way (WEFT_GPU_WITHOUT). Prints how far each value is off, relative to
the largest of the CPU's, and BAD where it is more than the case allows. --quick: sizes that a processor which stands in for a GPU can do.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

WAYS = ["cpu", "gpu", "attention", "cublas"]


def attention(tf, quick, causal, packed, dtype):
    """Two heads' worth of what a transformer does, with all gradients."""
    b, t, heads, d = (1, 128, 2, 8) if quick else (4, 256, 8, 64)
    r = np.random.default_rng(3)
    e = heads * d
    x = tf.constant(r.standard_normal((b, t, e)).astype("f"))
    w = [tf.constant((r.standard_normal((e, 3 * e)) / e**0.5).astype("f"))]

    weights = tf.constant(r.standard_normal((b * t, e)).astype("f"))

    @tf.function
    def run(x, w):
        with tf.GradientTape() as tape:
            tape.watch((x, w))
            qkv = tf.matmul(tf.reshape(tf.cast(x, dtype), [b * t, e]), tf.cast(w, dtype))
            if packed:
                q, k, v = tf.unstack(tf.transpose(tf.reshape(qkv, [b, t, 3, heads, d]), [2, 0, 3, 1, 4]))
            else:
                q, k, v = (tf.transpose(tf.reshape(y, [b, t, heads, d]), [0, 2, 1, 3]) for y in tf.split(qkv, 3, -1))
            scores = tf.cast(tf.matmul(q, k, transpose_b=True), tf.float32) * d**-0.5
            if causal:
                scores = scores + tf.constant(np.triu(np.full((t, t), -1e9, "f"), 1))
            o = tf.matmul(tf.cast(tf.nn.softmax(scores), dtype), v)
            o = tf.cast(tf.reshape(tf.transpose(o, [0, 2, 1, 3]), [b * t, e]), tf.float32)
            loss = tf.reduce_sum(o * weights)
        return o, *tape.gradient(loss, (x, w))

    for _ in range(3):
        out = run(x, w[0])
    return dict(zip(("o", "dx", "dw"), out))


def layers(tf, quick, dtype):
    """Products with a bias and gelu or relu behind them, three steps of training."""
    n, a, c = (16, 8, 24) if quick else (512, 256, 1024)
    r = np.random.default_rng(4)
    x = tf.cast(r.standard_normal((n, a)).astype("f"), dtype)
    v = [
        tf.Variable(tf.cast((r.standard_normal(s) / s[0] ** 0.5).astype("f"), dtype))
        for s in ((a, c), (c,), (c, a), (a,), (a, a), (a,))
    ]

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            h = tf.nn.gelu(tf.matmul(x, v[0]) + v[1], approximate=True)
            y = tf.nn.relu(tf.matmul(h, v[2]) + v[3]) + x
            y = tf.matmul(y, v[4]) + v[5]
            loss = tf.reduce_mean(tf.square(tf.cast(y, tf.float32)))
        for w, g in zip(v, tape.gradient(loss, v)):
            w.assign_sub(tf.cast(0.05, w.dtype) * g)
        return loss

    losses = [step() for _ in range(4)]
    return {"losses": tf.stack(losses), **{f"v{i}": w for i, w in enumerate(v)}}


def lstm(tf, quick):
    """A loop with its gradient: what a turn keeps, and what the next one reads."""
    n, t, u = (4, 5, 8) if quick else (64, 28, 128)
    r = np.random.default_rng(5)
    x = tf.constant(r.standard_normal((t, n, 4 * u)).astype("f"))
    w = tf.constant((r.standard_normal((u, 4 * u)) / u**0.5).astype("f"))

    @tf.function
    def run(x, w):
        with tf.GradientTape() as tape:
            tape.watch((x, w))

            def cell(k, h, s, total):
                i, f, g, o = tf.split(x[k] + tf.matmul(h, w), 4, -1)
                s = tf.sigmoid(f) * s + tf.sigmoid(i) * tf.tanh(g)
                h = tf.sigmoid(o) * tf.tanh(s)
                return k + 1, h, s, total + tf.reduce_sum(h) * tf.cast(k + 1, tf.float32)

            zero = tf.zeros([n, u])
            k, h, s, total = tf.while_loop(lambda k, *_: k < t, cell, [0, zero, zero, 0.0], maximum_iterations=t)
            loss = total + tf.reduce_sum(h * s) + tf.cast(k, tf.float32)
        return loss, h, *tape.gradient(loss, (x, w))

    for _ in range(3):
        out = run(x, w)
    return dict(zip(("loss", "h", "dx", "dw"), out))


def cases(quick):
    out = {}
    for causal in (False, True):
        for packed in (False, True):
            out[f"attention{' causal' if causal else ''}{' packed' if packed else ''}"] = (
                lambda tf, c=causal, p=packed: attention(tf, quick, c, p, tf.bfloat16), 3e-2)  # fmt: skip
    out["layers float"] = lambda tf: layers(tf, quick, tf.float32), 1e-4
    out["layers bfloat16"] = lambda tf: layers(tf, quick, tf.bfloat16), 3e-2
    out["lstm"] = lambda tf: lstm(tf, quick), 1e-4
    return out


def child(to, quick):
    import weft as tf

    tf.config.experimental.enable_tensor_float_32_execution(False)
    out = {}
    for name, (run, _) in cases(quick).items():
        try:
            for k, v in run(tf).items():
                out[f"{name}|{k}"] = tf.cast(v, tf.float32).numpy()
        except Exception as error:
            print(f"{name} failed: {str(error)[:500]}", flush=True)
    np.savez(to, **out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true")
    p.add_argument("--one")
    a = p.parse_args()
    if a.one:
        return child(a.one, a.quick)
    results, bad = {}, 0
    with tempfile.TemporaryDirectory() as work:
        running = []
        for way in WAYS:
            extra = {"CUDA_VISIBLE_DEVICES": ""} if way == "cpu" else {"WEFT_GPU_WITHOUT": way}
            to = f"{work}/{way}.npz"
            command = [sys.executable, __file__, "--one", to] + (["--quick"] if a.quick else [])
            process = subprocess.Popen(
                command,
                env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": os.environ.get("TF_CPP_MIN_LOG_LEVEL", "1"), **extra},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            running.append((way, to, process))
        for way, to, process in running:
            text = process.communicate()[0]
            if text.strip():
                print(f"{way}: {text.strip()[-800:]}")
            results[way] = dict(np.load(to)) if os.path.exists(to) else {}
    for name, (_, allowed) in cases(a.quick).items():
        line = []
        for way in WAYS[1:]:
            worst = 0.0 if any(k.split("|")[0] == name for k in results["cpu"]) else np.inf
            for k, want in results["cpu"].items():
                if k.split("|")[0] != name:
                    continue
                got = results[way].get(k)
                off = np.inf if got is None else float(np.abs(got - want).max() / max(np.abs(want).max(), 1e-30))
                worst = max(worst, off if np.isfinite(off) else np.inf)
            bad += worst > allowed
            label = "all" if way == "gpu" else f"without {way}"
            line.append(f"{label} {worst:.1e}{' BAD' if worst > allowed else ''}")
        print(f"{name:26} (allowed {allowed:.0e}) " + ", ".join(line), flush=True)
    print(f"fused: {'all agree' if not bad else f'{bad} differ'}")
    return bad


if __name__ == "__main__":
    sys.exit(main())
