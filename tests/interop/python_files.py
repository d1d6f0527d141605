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


if mode == "write":
    model = Model()
    model.count(tf.constant(["a"])), model.count(tf.constant(["a", "b"]))
    model.inner.scale.assign(5.0)
    tf.train.Checkpoint(model=model).write(folder + "/ckpt")
    tf.saved_model.save(model, folder + "/model", signatures=model.predict)
    show(model)
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
print("python: models and checkpoints both ways:", "differences" if bad else "ok")
if bad:
    sys.exit("\n".join(bad))
