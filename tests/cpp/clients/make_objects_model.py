"""Makes objects_model.tar.xz, the SavedModel of saved_model_objects.cc, and prints what TensorFlow 2.21 computes with it: saved_model_objects.out.

python make_objects_model.py FOLDER
"""

import pathlib
import sys
import tarfile

import tensorflow as tf


def spec(*shape, dtype=tf.float32):
    return tf.TensorSpec(shape, dtype)


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        self.b = tf.Variable([0.5, -0.5])

    @tf.function(input_signature=[spec(None, 2)])
    def call(self, x):
        return x @ self.w + self.b


class Root(tf.Module):
    def __init__(self, words):
        super().__init__()
        self.net = Net()
        self.calls = tf.Variable(0)
        init = tf.lookup.TextFileInitializer(
            words, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        self.table = tf.lookup.StaticHashTable(init, -1)

    @tf.function(input_signature=[spec(), spec()])
    def scale(self, x, y):
        return x * y

    @tf.function(input_signature=[spec(None, dtype=tf.string)])
    def lookup(self, words):
        return self.table.lookup(words)

    @tf.function(input_signature=[])
    def count(self):
        self.calls.assign_add(1)
        return self.calls, tf.cast(self.calls, tf.float32) * 10.0

    @tf.function
    def any(self, x):
        return x + x

    @tf.function(input_signature=[tf.TensorSpec([None], name="b"), tf.TensorSpec([], name="a")])
    def serve(self, b, a):
        return {"sum": a + b, "product": a * b}


folder = pathlib.Path(sys.argv[1])
(folder / "words.txt").write_text("one\ntwo\nthree\n")
root = Root(str(folder / "words.txt"))
root.any(tf.constant(1.0))
root.any(tf.constant(1))
tf.saved_model.save(root, str(folder / "model"), signatures={"serving_default": root.serve})
with tarfile.open(folder / "objects_model.tar.xz", "w:xz") as archive:
    archive.add(folder / "model", "model")

m = tf.saved_model.load(str(folder / "model"))


def show(name, *tensors):
    print(
        name, *(v for t in tensors for v in ("[" + " ".join(f"{x:g}" for x in t.numpy().reshape(-1).tolist()) + "]",))
    )


show("scale", m.scale(2.0, 3.0))
show("net", m.net.call([[1.0, 2.0], [3.0, 4.0]]))
show("lookup", m.lookup(["two", "four", "one"]))
show("count", *m.count())
show("count", *m.count())
f = m.signatures["serving_default"]
for name, s in sorted(f.structured_input_signature[1].items()):
    print("takes", name, s.dtype.as_datatype_enum, s.shape.rank, *(-1 if d is None else d for d in s.shape.as_list()))
for name, s in sorted(f.structured_outputs.items()):
    print("gives", name, s.dtype.as_datatype_enum, s.shape.rank, *(-1 if d is None else d for d in s.shape.as_list()))
out = f(a=tf.constant(2.0), b=tf.constant([1.0, 10.0]))
show("serve", out["product"], out["sum"])
