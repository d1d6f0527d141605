"""Pipelines of tf.data under weft and TensorFlow, in turns: elements a second, and ratios (ours over the peer's).

    pipelines.py [--weft PYTHON] [--tensorflow PYTHON] [--cases REGEX] [--scale 1.0] [--rounds 3]

PYTHON: an interpreter that has the package (weft's is taken from build/python, or WEFT_PACKAGE). Files are written once, by weft, into a temporary folder that both read.
Both sides are processes that wait for their turn; a turn goes through a new iterator to its end, and the best turn counts. The time is that of the clock on the wall."""

import argparse
import re
import sys
import tempfile
import time

from packages import Side, need

CASES = {}


def case(make):
    CASES[make.__name__.replace("_", " ")] = make
    return make


def example(tf, i):
    feature = tf.train.Feature
    return tf.train.Example(
        features=tf.train.Features(
            feature={
                "x": feature(float_list=tf.train.FloatList(value=[i * 0.5] * 32)),
                "label": feature(int64_list=tf.train.Int64List(value=[i % 10])),
            }
        )
    ).SerializeToString()


def prepare(tf, folder, scale):
    """Four files of records, one of examples, a table and a folder of images."""
    count = max(8, int(5000 * scale))
    for k in range(4):
        with tf.io.TFRecordWriter(f"{folder}/part{k}.tfrecord") as writer:
            for i in range(count):
                writer.write(bytes([i % 251]) * 1000)
    with tf.io.TFRecordWriter(f"{folder}/examples.tfrecord") as writer:
        for i in range(count):
            writer.write(example(tf, i))
    with open(f"{folder}/table.csv", "w") as f:
        for i in range(count * 4):
            f.write(f"{i},{i / 3:.5f},word {i % 97},{i % 2}\n")
    for i in range(max(4, int(100 * scale))):
        y, x = tf.meshgrid(tf.range(96), tf.range(128), indexing="ij")
        picture = tf.cast(tf.stack([x + i, y + i, x * y], -1) % 256, tf.uint8)
        tf.io.write_file(f"{folder}/image{i:04d}.jpg", tf.io.encode_jpeg(picture))


def parts(folder):
    return [f"{folder}/part{k}.tfrecord" for k in range(4)]


@case
def map_and_batch(tf, folder, scale):
    return tf.data.Dataset.range(int(200000 * scale)).map(lambda i: i * 2 + 1).batch(100)


@case
def parallel_map(tf, folder, scale):
    work = lambda i: tf.reduce_sum(tf.tanh(tf.cast(tf.range(1000), tf.float32) + tf.cast(i, tf.float32)))
    return tf.data.Dataset.range(int(20000 * scale)).map(work, num_parallel_calls=tf.data.AUTOTUNE).prefetch(2)


@case
def shuffle_and_batch(tf, folder, scale):
    return tf.data.Dataset.range(int(200000 * scale)).shuffle(10000, seed=1).batch(64, drop_remainder=True)


@case
def slices_batch_prefetch(tf, folder, scale):
    return tf.data.Dataset.from_tensor_slices(tf.zeros([int(50000 * scale), 64])).batch(32).prefetch(tf.data.AUTOTUNE)


@case
def records(tf, folder, scale):
    return tf.data.TFRecordDataset(parts(folder))


@case
def interleaved_records(tf, folder, scale):
    files = tf.data.Dataset.from_tensor_slices(parts(folder))
    return files.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE).batch(32)


@case
def parsed_examples(tf, folder, scale):
    features = {"x": tf.io.FixedLenFeature([32], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64)}
    return (
        tf.data.TFRecordDataset(f"{folder}/examples.tfrecord").batch(64).map(lambda s: tf.io.parse_example(s, features))
    )


@case
def table(tf, folder, scale):
    return tf.data.experimental.CsvDataset(f"{folder}/table.csv", [0, 0.0, "", 0]).batch(64)


@case
def cached(tf, folder, scale):
    return tf.data.Dataset.range(int(20000 * scale)).map(lambda i: i + 1).cache().repeat(5).batch(100)


@case
def images(tf, folder, scale):
    load = lambda name: tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(name)), [64, 64])
    return (
        tf.data.Dataset.list_files(f"{folder}/image*.jpg", shuffle=False)
        .map(load, num_parallel_calls=tf.data.AUTOTUNE)
        .batch(8)
    )


def work(package, folder, scale):
    import importlib

    tf = importlib.import_module(package)
    held = (None, None)
    print("ready", flush=True)
    for line in sys.stdin:
        name = line.strip()
        try:
            if name == "prepare":
                prepare(tf, folder, scale)
                print(0, flush=True)
                continue
            if held[0] != name:
                held = (name, CASES[name](tf, folder, scale))
            start = time.perf_counter()
            count = 0
            for _ in held[1]:
                count += 1
            print(count / (time.perf_counter() - start), flush=True)
        except Exception as e:  # of any kind: one case is lost, not the run
            print("error", " ".join(str(e).split())[:300] or type(e).__name__, flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--weft", default="build/venv/bin/python")
    p.add_argument("--tensorflow")
    p.add_argument("--cases", default="")
    p.add_argument("--scale", type=float, default=1.0)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--work", help=argparse.SUPPRESS)
    p.add_argument("--folder", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.work:
        return work(a.work, a.folder, a.scale)
    for name in ("weft", "tensorflow"):
        need("numpy", *([] if name == "weft" else [name]), python=getattr(a, name))
    failed = False
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        sides = {
            name: Side(name, [*python.split(), __file__, "--work", name, "--folder", folder, "--scale", str(a.scale)])
            for name in ("weft", "tensorflow")
            if (python := getattr(a, name))
        }
        if isinstance(said := sides["weft"].ask("prepare"), str):
            sys.exit(f"pipelines.py: {said}")
        for name in CASES:
            if not re.search(a.cases, name):
                continue
            best = {}
            for _ in range(a.rounds):
                for package, side in sides.items():
                    got = side.ask(name)
                    if isinstance(got, str):
                        print(f"{name:24s} {package}: {got}", flush=True)
                        failed = True
                        best = {}
                        break
                    best[package] = max(best.get(package, 0), got)
                if not best:
                    break
            if not best:
                continue
            row = f"{name:24s} {best['weft']:12.0f}/s"
            if "tensorflow" in best:
                ratios.append(best["weft"] / best["tensorflow"])
                row += f" {best['tensorflow']:12.0f}/s {ratios[-1]:7.2f}"
            print(row, flush=True)
        for side in sides.values():
            side.close()
    if ratios:
        mean = 1.0
        for r in ratios:
            mean *= r ** (1 / len(ratios))
        print(f"geometric mean {mean:.2f}, below 1: {sum(r < 1 for r in ratios)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
