"""A SavedModel into a table that is there already: functions of the file and the object have one handle, and all is saved again."""

import os
import tempfile

import tensorflow as tf

folder = tempfile.mkdtemp()
words = os.path.join(folder, "words.txt")
with open(words, "w") as file:
    file.write("earth\nwind\nfire\n")


class Nothing(tf.lookup.KeyValueTensorInitializer):
    """Leaves a table empty: what a SavedModel has fills it."""

    def __init__(self):
        pass

    key_dtype = tf.string
    value_dtype = tf.int64

    def initialize(self, table):
        pass


class Lookup(tf.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def find(self, x):
        return self.table.lookup(x)


kind = tf.lookup.TextFileIndex
initializer = tf.lookup.TextFileInitializer(words, tf.string, kind.WHOLE_LINE, tf.int64, kind.LINE_NUMBER)
tf.saved_model.save(Lookup(tf.lookup.StaticHashTable(initializer, -1)), os.path.join(folder, "first"))
os.remove(words)

asked = tf.constant(["fire", "water", "earth"])
given = tf.lookup.StaticHashTable(Nothing(), -1)
print("before", given.size().numpy())
load = tf.__internal__.saved_model.load_partial
found = load(os.path.join(folder, "first"), {"root": None, "root.table": (given, setattr)})
root = found["root"]
print("same", root.table is given, found["root.table"] is given)
print("after", given.size().numpy(), given.lookup(asked).numpy(), root.find(asked).numpy())

again = tf.Module()
again.given = given
again.find = root.find
tf.saved_model.save(again, os.path.join(folder, "second"))
print("again", tf.saved_model.load(os.path.join(folder, "second")).find(asked).numpy())
