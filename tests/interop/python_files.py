"""Files between weft's Python package and TensorFlow: the same program writes under one and reads under the other.

TENSORFLOW_PYTHON python_files.py WEFT_PYTHON WEFT_PACKAGE WORK_FOLDER"""

import os
import pathlib
import shutil
import subprocess
import sys

PROGRAM = """
import sys
import tensorflow as tf

mode, folder = sys.argv[1:]


class Inner(tf.Module):
    def __init__(self):
        self.scale = tf.Variable(2.0, name="scale")
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)


class Model(tf.Module):
    def __init__(self):
        self.inner, self.parts = Inner(), [tf.Variable([1.0, 2.0]), {"k": tf.Variable(3, trainable=False)}]

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def predict(self, x):
        y = x * self.inner.scale + self.parts[0]
        for i in tf.range(2):
            y = y + tf.cast(i, tf.float32)
        return {"y": y, "n": tf.shape(x)[0]}

    @tf.function
    def count(self, words, add=1):
        self.parts[1]["k"].assign_add(add)
        return self.inner.table.lookup(words) + self.parts[1]["k"]


def show(model):
    print({k: v.numpy().tolist() for k, v in sorted(model.predict(tf.constant([[1.0, 2.0], [3.0, 4.0]])).items())})
    print(model.count(tf.constant(["a", "z"])).numpy(), model.count(tf.constant(["b"]), 1).numpy(), model.parts[1]["k"].numpy())


def datasets():
    make = tf.data.Dataset.from_tensor_slices
    rows = make({"n": tf.range(6), "t": ["a", "bb", "", "dddd", "e", "f"], "x": tf.reshape(tf.range(12.0), [6, 2])})
    large = make(tf.random.stateless_uniform([3, 50000], [1, 2], maxval=99, dtype=tf.int32))
    return {
        "rows": (rows, None, None),
        "gzip": (rows.batch(4), "GZIP", None),
        "snappy": (rows, "SNAPPY", lambda row: tf.cast(row["n"] % 3, tf.int64)),
        "large": (large, "SNAPPY", None),
        "types": (tf.data.Dataset.from_tensors((True, 1.5 + 2j, tf.cast([1, 2], tf.bfloat16), tf.zeros([0, 3]))), None, None),
        "ragged": (make(tf.ragged.constant([[1, 2], [], [3]])), "GZIP", None),
        "nested": (make(tf.ragged.constant([[["a"], []], [["b", "c"]]])), "SNAPPY", None),
        "sparse": (make(tf.sparse.from_dense([[0, 1], [2, 0], [0, 0]])), None, None),
        "empty": (tf.data.Dataset.range(0), None, None),
    }


def load(name, compression, spec=None):
    return tf.data.Dataset.load(name, spec, compression, lambda shards: shards.flat_map(lambda x: x))


def show_elements(dataset):
    for element in dataset:
        print([p.to_list() if hasattr(p, "to_list") else tf.sparse.to_dense(p).numpy().tolist() if hasattr(p, "indices")
               else p.numpy().tolist()[:20] if p.shape.rank else p.numpy() for p in tf.nest.flatten(element)])


if mode == "write":
    model = Model()
    model.count(tf.constant(["a"])), model.count(tf.constant(["a", "b"]))
    model.inner.scale.assign(5.0)
    tf.train.Checkpoint(model=model).write(folder + "/ckpt")
    tf.saved_model.save(model, folder + "/model", signatures=model.predict)
    show(model)
    for name, (dataset, compression, shard) in datasets().items():
        dataset.save(f"{folder}/{name}", compression=compression, shard_func=shard)
    list(tf.data.Dataset.range(5).snapshot(folder + "/snapshot", shard_func=lambda x: x % 2))
    tf.data.experimental.TFRecordWriter(folder + "/records", "SNAPPY").write(tf.data.Dataset.from_tensor_slices(["a" * 999, ""]))
else:
    model = Model()
    tf.train.Checkpoint(model=model).read(folder + "/ckpt").assert_existing_objects_matched().assert_consumed()
    print(model.inner.scale.numpy(), model.parts[0].numpy(), sorted(n for n, _ in tf.train.list_variables(folder + "/ckpt")))
    loaded = tf.saved_model.load(folder + "/model")
    show(loaded)
    print(sorted(k for k in loaded.signatures), loaded.signatures["serving_default"](x=tf.zeros([1, 2]))["y"].numpy(), loaded.inner.scale.name)
    x = tf.constant([[1.0, 1.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(loaded.predict(x)["y"])
    print(tape.gradient(y, loaded.inner.scale).numpy())
    for name, (_, compression, _) in datasets().items():
        loaded = load(f"{folder}/{name}", compression)
        spec = loaded.element_spec
        print(name, loaded.cardinality().numpy(), sorted(spec.items()) if isinstance(spec, dict) else spec)
        show_elements(loaded)
    (run,) = tf.io.gfile.glob(folder + "/snapshot/*")
    show_elements(load(run, "SNAPPY", tf.TensorSpec([], tf.int64)))
    print([len(r.numpy()) for r in tf.data.TFRecordDataset(folder + "/records", "SNAPPY")])
"""

weft, package, work = sys.argv[1], os.path.abspath(sys.argv[2]), pathlib.Path(sys.argv[3])
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
(work / "program.py").write_text(PROGRAM)
sides = {
    "tensorflow": ([sys.executable], dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")),
    "weft": ([weft, "-m", "weft"], dict(os.environ, PYTHONPATH=package)),
}


def run(side, mode, folder):
    command, environment = sides[side]
    folder.mkdir(exist_ok=True)
    made = subprocess.run(
        [*command, str(work / "program.py"), mode, str(folder)], capture_output=True, text=True, env=environment
    )
    if made.returncode:
        sys.exit(f"{side}, {mode}: {made.stderr[-2000:]}")
    return made.stdout


written = {side: run(side, "write", work / side) for side in sides}
read = {(reader, writer): run(reader, "read", work / writer) for reader in sides for writer in sides}
bad = [f"{side} prints, when it writes:\n{text}" for side, text in written.items() if text != written["tensorflow"]]
bad += [
    f"{reader} reads of {writer}:\n{text}instead of:\n{read['tensorflow', 'tensorflow']}"
    for (reader, writer), text in read.items()
    if text != read["tensorflow", "tensorflow"]
]
print("python: models, checkpoints and datasets both ways:", "differences" if bad else "ok")
if bad:
    sys.exit("\n".join(bad))
