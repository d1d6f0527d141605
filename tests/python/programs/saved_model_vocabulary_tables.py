"""Tables that hold another table, in SavedModels."""

import tempfile

import tensorflow as tf


class Words(tf.Module):
    def __init__(self, words, buckets):
        super().__init__()
        values = tf.range(len(words), dtype=tf.int64)
        self.table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(words, values), buckets)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def ids(self, words):
        return self.table.lookup(words)

    @tf.function(input_signature=[])
    def size(self):
        return self.table.size()


for buckets in (1, 3):
    words = Words(["emu", "cat", "dog"], buckets)
    folder = tempfile.mkdtemp()
    tf.saved_model.save(words, folder, signatures=words.ids)
    loaded = tf.saved_model.load(folder)
    asked = tf.constant(["dog", "emu", "fox", "owl", ""])
    print(words.ids(asked).numpy(), loaded.ids(asked).numpy(), loaded.size().numpy())
    print({k: v.numpy() for k, v in loaded.signatures["serving_default"](words=asked).items()})

both = tf.Module()
both.first, both.second = Words(["a", "b"], 1), Words(["b", "a"], 2)
both.ask = tf.function(
    lambda x: (both.first.table.lookup(x), both.second.table.lookup(x)), input_signature=[tf.TensorSpec([None], tf.string)]
)
folder = tempfile.mkdtemp()
tf.saved_model.save(both, folder)
again = tf.saved_model.load(folder)
print([t.numpy() for t in again.ask(tf.constant(["a", "b", "c"]))])
