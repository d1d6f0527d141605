"""Whether TensorFlow reads what weft writes: python check_with_tensorflow.py BUILD_FOLDER (with TensorFlow installed).

Checkpoints written by TensorFlow are copied by tests/copy_bundle; TensorFlow must read every tensor of the copies unchanged, and plain
copies must be the same files byte for byte.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf

R = tf.raw_ops
here = os.path.dirname(os.path.abspath(__file__))


def save(prefix, tensors):
    R.SaveV2(
        prefix=prefix, tensor_names=list(tensors), shape_and_slices=[""] * len(tensors), tensors=list(tensors.values())
    )
    return prefix


def sources(folder):
    g = np.random.default_rng(2)
    yield "golden", here + "/recorded/all_types"
    yield "sharded", here + "/recorded/sharded"
    yield "snappy", here + "/recorded/snappy"
    # An index of several blocks, with long names.
    yield (
        "many",
        save(
            folder + "/many",
            {
                f"scope_{i % 37}/{'deep/' * (i % 9)}variable_{i}/.ATTRIBUTES/VARIABLE_VALUE": tf.fill(
                    [i % 5, 2], float(i)
                )
                for i in range(9000)
            },
        ),
    )
    yield (
        "large",
        save(
            folder + "/large",
            {
                "a": tf.constant(g.normal(size=(3000, 1000)).astype(np.float32)),
                "b": tf.constant(g.integers(0, 9, size=(5, 300000))),
                "s": tf.constant(["x" * int(n) for n in g.integers(0, 3000, size=2000)]),
            },
        ),
    )
    net = tf.keras.Sequential(
        [
            tf.keras.layers.Input((8,)),
            tf.keras.layers.Dense(16),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.Dense(3),
        ]
    )
    net.compile("adam", "mse")
    net.fit(np.ones((4, 8), np.float32), np.ones((4, 3), np.float32), verbose=0)
    yield "keras", tf.train.Checkpoint(model=net, step=tf.Variable(3, dtype=tf.int64)).write(folder + "/keras")


def files(prefix):
    folder, name = os.path.split(prefix)
    return {
        f[len(name) :]: open(os.path.join(folder, f), "rb").read()
        for f in os.listdir(folder)
        if f.startswith(name + ".") and not f.endswith(".expected")
    }


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "OS":
        return a.shape == b.shape and a.tolist() == b.tolist()
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def main(build):
    failures = checked = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, source in sources(folder):
            reader = tf.train.load_checkpoint(source)
            wanted = {k: reader.get_tensor(k) for k in reader.get_variable_to_shape_map()}
            for mode in ["plain", "sliced", "sharded"]:
                copy = f"{folder}/copy_{name}_{mode}"
                subprocess.run([build + "/tests/copy_bundle", mode, source, copy], check=True)
                read = tf.train.load_checkpoint(copy)
                if set(read.get_variable_to_shape_map()) != set(wanted):
                    print(f"FAILED {name} {mode}: other names")
                    failures += 1
                for key, value in wanted.items():
                    checked += 1
                    try:
                        got = read.get_tensor(key)
                    except (tf.errors.InvalidArgumentError, ValueError) as e:
                        if mode == "sliced" and "not supported" in str(
                            e
                        ):  # TensorFlow does not join slices of every type
                            continue
                        raise
                    if not same(got, value):
                        print(f"FAILED {name} {mode}: {key}")
                        failures += 1
                if mode == "plain" and name not in ("sharded", "snappy"):
                    equal = files(copy) == files(source)
                    print(f"{name}: files {'are the same' if equal else 'DIFFER'}")
                    failures += not equal
    print(f"{checked} tensors compared, {failures} failures")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
