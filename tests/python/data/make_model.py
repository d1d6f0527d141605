"""Writes data/model with TensorFlow: what saved_model_test.py loads. Run it with TensorFlow's Python in the folder of this file."""

import collections
import os

import tensorflow as tf

Pair = collections.namedtuple("P", "a b")
words = "words.txt"
with open(words, "w") as f:
    f.write("a\nb\nc\n")


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0], [2.0]], name="w")
        self.steps = tf.Variable(0, trainable=False)
        self.parts = [tf.Variable(5.0), {"k": tf.Variable(6.0)}]
        self.t = (tf.Variable(1.0),)
        self.c = tf.constant([1.0, 2.0])
        self.asset = tf.saved_model.Asset(words)
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                words, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
            ),
            -1,
        )

    @tf.function
    def predict(self, x, training=False, scale=1.0, *args, k=None, **kw):
        if training:
            self.steps.assign_add(1)
        return x @ self.w * scale + self.c[0]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def lookup(self, words):
        return {"ids": self.table.lookup(words), "p": tf.constant(1)}

    @tf.function
    def structured(self, d, e):
        return Pair(d["a"], [d["b"][0], None])


m, x = Model(), tf.constant([[1.0, 1.0]])
m.predict(x)
m.predict(x, training=True)
m.predict(x, scale=2.0, k=tf.constant(1.0))
m.structured({"a": tf.constant(1), "b": [tf.constant(2)]}, Pair(tf.constant(1), "s"))
tf.saved_model.save(m, "model", signatures={"serving_default": m.lookup})
os.remove(words)
