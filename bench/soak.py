"""Long runs of programs that make and drop things, with a curve of their memory: does it stay flat?

    PYTHONPATH=build/python build/venv/bin/python bench/soak.py                 # all parts, full length (hours)
    PYTHONPATH=build/python build/venv/bin/python bench/soak.py --short         # all parts in about a minute
    PYTHONPATH=build/python build/venv/bin/python bench/soak.py loads --loads 200 --out curves

Parts:
  train      Keras training with a tf.data pipeline that is made again each epoch, checkpoints and summaries   (--steps, 200000)
  loads      a SavedModel of 8 MB is loaded, called, differentiated and dropped                               (--loads, 1000)
  retraces   a tf.function with a branch and a captured tensor is made, called and dropped                    (--retraces, 100000)
  tapes      a function is called under a tape, every tenth one new and dropped                               (--tapes, 10000)

Each part runs in a process of its own, which reports its resident memory (after a garbage collection) at 200 points of equal work (or time, where --seconds ends it). Printed are a curve, threads and file
descriptors at the begin and the end, and the verdict. With --out a curve is written as PART.svg.

The verdict is "flat" where the memory does not grow after the first tenth of the work: the median of the last tenth of the points is at most 2 MiB or 2 %, whichever is more,
above the median of the second tenth. The exit status is 1 where a part is not flat or fails. --package tensorflow runs the same on TensorFlow, for comparison (an
interpreter that has it)."""

import argparse
import gc
import importlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

FULL = dict(train=200_000, loads=1000, retraces=100_000, tapes=10_000)
SHORT = dict(train=3_000, loads=150, retraces=3_000, tapes=3_000)
UNITS = dict(train="steps", loads="loads", retraces="functions", tapes="tapes")
POINTS = 200
SPARKS = "▁▂▃▄▅▆▇█"


# ---- the work, in a process of its own -------------------------------------------------------------------


def train(tf, keras, folder):
    """One call is an epoch of 10 steps."""
    import numpy as np

    r = np.random.RandomState(0)
    x, y = r.rand(160, 16).astype("float32"), r.rand(160, 1).astype("float32")
    model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    checkpoints = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), os.path.join(folder, "checkpoints"), 3)
    writer = tf.summary.create_file_writer(os.path.join(folder, "logs"))
    epochs = 0

    def work():
        nonlocal epochs
        scale = tf.constant(r.rand(16).astype("float32"))
        data = (
            tf.data.Dataset.from_tensor_slices((x, y))
            .shuffle(100)
            .map(lambda a, b: (a * scale, b), 2)
            .filter(lambda a, b: b[0] < 2.0)
            .batch(16)
            .prefetch(2)
        )
        history = model.fit(data, epochs=1, verbose=0)
        with writer.as_default():
            tf.summary.scalar("loss", history.history["loss"][0], step=epochs)
        if epochs % 50 == 0:
            checkpoints.save()
        epochs += 1

    return work, 10


def loads(tf, keras, folder):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.Variable(tf.zeros([2_000_000]))
            self.w = tf.Variable(tf.ones([16, 16]))

        @tf.function(input_signature=[tf.TensorSpec([None, 16])])
        def __call__(self, x):
            return tf.tanh(x @ self.w) + self.table[0]

    path = os.path.join(folder, "model")
    tf.saved_model.save(Model(), path)
    x = tf.ones([4, 16])

    def work():
        model = tf.saved_model.load(path)
        with tf.GradientTape() as tape:
            y = model(x)
        tape.gradient(y, model.w)

    return work, 1


def retraces(tf, keras, folder):
    x = tf.ones([4])

    def work():
        captured = tf.ones([1000])

        @tf.function
        def f(a):
            if tf.reduce_sum(a) > 0:
                return a + captured[0]
            return a - 1.0

        f(x)

    return work, 1


def tapes(tf, keras, folder):
    x = tf.ones([4, 4])
    calls, kept = 0, None

    def make():
        @tf.function
        def f(a):
            i = 0
            while i < 3:
                a = tf.tanh(a) * 2.0
                i += 1
            return tf.reduce_sum(a)

        return f

    def work():
        nonlocal calls, kept
        if calls % 10 == 0:
            kept = make()
        calls += 1
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = kept(x)
        tape.gradient(y, x)

    return work, 1


PARTS = dict(train=train, loads=loads, retraces=retraces, tapes=tapes)


def state():
    gc.collect()
    with open("/proc/self/statm") as f:
        pages = int(f.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def child(part, count, seconds, package):
    """Runs the work and prints a line of JSON for each point: units done, bytes, threads, file descriptors."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    import logging
    import warnings

    logging.getLogger("tensorflow").setLevel(logging.ERROR)  # each function is said to be traced often
    warnings.simplefilter("ignore")
    tf = importlib.import_module(package)
    keras = importlib.import_module("weft.keras" if package == "weft" else "keras") if part == "train" else None
    folder = tempfile.mkdtemp(prefix="soak_")
    try:
        work, each = PARTS[part](tf, keras, folder)
        work()
        calls = max(1, count // each)
        step = max(1, calls // POINTS)
        now = time.monotonic()
        end, done, due, late = now + seconds, 0, step, now + seconds / POINTS
        print(json.dumps([0, *state()]), flush=True)
        while done < calls and now < end:
            work()
            done += 1
            now = time.monotonic()
            if done >= due or now >= late:
                print(json.dumps([done * each, *state()]), flush=True)
                due, late = done + step, now + seconds / POINTS
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---- what is made of it ----------------------------------------------------------------------------------


def verdict(levels):
    """(flat, growth in bytes, bytes that are allowed): see the text above."""
    tenth = max(1, len(levels) // 10)
    first, last = statistics.median(levels[tenth : 2 * tenth] or levels[-1:]), statistics.median(levels[-tenth:])
    allowed = max(2 * 2**20, 0.02 * first)
    return last - first <= allowed, last - first, allowed


def spark(levels, width=60):
    columns = [levels[i * len(levels) // width] for i in range(width)] if len(levels) > width else levels
    low, high = min(columns), max(columns)
    span = max(high - low, 1)
    return "".join(SPARKS[int((v - low) / span * (len(SPARKS) - 1))] for v in columns)


def svg(part, samples, package):
    """The curve as a drawing, from 0 bytes up, so that growth is seen in proportion."""
    width, height, left, bottom = 720, 300, 70, 40
    most_x, most_y = max(s[0] for s in samples) or 1, 1.1 * max(s[1] for s in samples)

    def at(units, size):
        return f"{left + units / most_x * (width - left - 20):.1f},{height - bottom - size / most_y * (height - bottom - 30):.1f}"

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{left}" y="18">{part} on {package}: resident memory over {samples[-1][0]} {UNITS[part]}</text>',
    ]
    for i in range(5):
        size = most_y * i / 4
        a, b = at(0, size), at(most_x, size)
        x, y = a.split(",")
        lines.append(f'<polyline points="{a} {b}" stroke="#ddd" fill="none"/>')
        lines.append(f'<text x="{float(x) - 6}" y="{float(y) + 4}" text-anchor="end">{size / 2**20:.0f} MiB</text>')
        x = at(most_x * i / 4, 0).split(",")[0]
        lines.append(f'<text x="{x}" y="{height - bottom + 18}" text-anchor="middle">{most_x * i // 4}</text>')
    lines.append(
        f'<polyline points="{" ".join(at(s[0], s[1]) for s in samples)}" stroke="#0645ad" stroke-width="1.5" fill="none"/>'
    )
    return "\n".join([*lines, "</svg>\n"])


def bar(part, samples, count):
    if not sys.stderr.isatty():
        return
    done = samples[-1][0] / max(count, 1)
    print(
        f"\r{part:9} [{'#' * int(30 * done):30}] {samples[-1][0]}/{count} {UNITS[part]}, {samples[-1][1] / 2**20:.0f} MiB ",
        end="",
        file=sys.stderr,
        flush=True,
    )


def run(part, count, args):
    command = [
        sys.executable,
        __file__,
        part,
        "--child",
        str(count),
        "--seconds",
        str(args.seconds),
        "--package",
        args.package,
    ]
    start, samples = time.monotonic(), []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("["):
            samples.append(json.loads(line))
            bar(part, samples, count)
    failed = process.wait() != 0
    if sys.stderr.isatty():
        print("\r" + " " * 100 + "\r", end="", file=sys.stderr)
    if failed or len(samples) < 20:
        done = samples[-1][0] if samples else 0
        print(
            f"{part}: FAILED after {done} {UNITS[part]} (exit status {process.returncode})"
            if failed
            else f"{part}: {done} {UNITS[part]} are too few to judge"
        )
        return False
    levels = [s[1] for s in samples]
    flat, growth, allowed = verdict(levels)
    first, last = samples[0], samples[-1]
    print(
        f"{part}: {'flat' if flat else 'NOT FLAT'}: {growth / 2**20:+.1f} MiB after the first tenth (allowed {allowed / 2**20:.1f}); {last[0]} of {count} {UNITS[part]} in {time.monotonic() - start:.0f} s"
    )
    print(
        f"  {spark(levels)}  {min(levels) / 2**20:.0f} to {max(levels) / 2**20:.0f} MiB; threads {first[2]} to {last[2]}, file descriptors {first[3]} to {last[3]}"
    )
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / f"{part}.svg").write_text(svg(part, samples, args.package))
    return flat


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument(
        "parts",
        nargs="*",
        choices=[[], *PARTS],
        metavar="PART",
        help="train, loads, retraces, tapes; all where none is given",
    )
    p.add_argument("--short", action="store_true", help=f"few of each: {SHORT}")
    for name, part in (("steps", "train"), ("loads", "loads"), ("retraces", "retraces"), ("tapes", "tapes")):
        p.add_argument(
            f"--{name}",
            type=int,
            dest=part,
            metavar="N",
            help=f"for {part}: how many {UNITS[part]} (default {FULL[part]})",
        )
    p.add_argument(
        "--seconds",
        type=float,
        default=1e9,
        metavar="S",
        help="end each part after this time; what was done until then is judged",
    )
    p.add_argument("--out", type=pathlib.Path, metavar="DIR", help="write the curves there, as PART.svg")
    p.add_argument("--package", default="weft", choices=["weft", "tensorflow"], help="what to run on")
    p.add_argument("--child", type=int, help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.child is not None:
        return child(args.parts[0], args.child, args.seconds, args.package)
    counts = {
        **FULL,
        **(SHORT if args.short else {}),
        **{k: getattr(args, k) for k in PARTS if getattr(args, k) is not None},
    }
    fine = [run(part, counts[part], args) for part in args.parts or PARTS]
    sys.exit(0 if all(fine) else 1)


if __name__ == "__main__":
    main()
