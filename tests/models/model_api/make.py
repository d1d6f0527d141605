"""Makes the SavedModel `calls` with real TensorFlow, and prints what its functions give: the numbers in tests/models/model_test.cc.

    python make.py        (needs tensorflow; writes ./calls)
"""
import os
import shutil

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf


class Layer(tf.Module):
    def __init__(self):
        super().__init__(name="layer")
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.calls = tf.Variable(0, trainable=False, name="calls")

    @tf.function
    def call(self, x, training=False, scale=1.0):
        if training:
            self.calls.assign_add(1)
            x = x * 10.0
        return tf.matmul(x, self.w) * scale


class Root(tf.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()
        self.offset = tf.constant([0.5, 0.25])
        keys = tf.constant(["one", "two"])
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.constant([1, 2], tf.int64)), -1)
        with open("words.txt", "w") as f:
            f.write("alpha\nbeta\ngamma\n")
        self.words = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(
            "words.txt", tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 1)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x")])
    def serve(self, x):
        return {"y": self.layer.call(x) + self.offset}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def lookup(self, words):
        return self.table.lookup(words), self.words.lookup(words)

    @tf.function
    def nested(self, pair, more):
        return {"sum": pair[0] + pair[1], "parts": [more["b"] * 2.0, more["a"]]}

    @tf.function
    def either(self, x):
        return x + x


root = Root()
x = tf.constant([[1.0, 1.0], [2.0, 0.0]])
print("call", root.layer.call(x).numpy().tolist())
print("training", root.layer.call(x, training=True).numpy().tolist())
print("scale", root.layer.call(x, scale=2.0).numpy().tolist())
root.layer.calls.assign(0)
print("serve", root.serve(x)["y"].numpy().tolist())
print("lookup", [t.numpy().tolist() for t in root.lookup(tf.constant(["two", "beta", "gamma"]))])
print("nested", root.nested((tf.constant(1.0), tf.constant(2.0)), {"a": tf.constant(3.0), "b": tf.constant([4.0])}))
print("either", root.either(tf.constant(3)).numpy(), root.either(tf.constant([1.5])).numpy())
shutil.rmtree("calls", ignore_errors=True)
tf.saved_model.save(root, "calls", signatures=root.serve)
os.remove("words.txt")
