"""Lookup tables: static, mutable, from files, out-of-vocabulary buckets, experimental dense tables, in functions."""
import os
import tempfile
import tensorflow as tf

init = tf.lookup.KeyValueTensorInitializer(keys=["emerson", "lake", "palmer"], values=[1, 2, 3])
table = tf.lookup.StaticHashTable(init, default_value=-1)
print(table.lookup(tf.constant(["lake", "nobody"])), table.size(), table[tf.constant("palmer")])
print(table.key_dtype, table.value_dtype, table.default_value)
ragged = tf.ragged.constant([["emerson"], ["palmer", "x"]])
print(table.lookup(ragged), table.lookup(tf.sparse.from_dense([["lake", ""]])).values)
voc = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64)),
                                      num_oov_buckets=3)
print(voc.lookup(tf.constant(["a", "b", "c", "d", "e"])), voc.size())
path = os.path.join(tempfile.mkdtemp(), "vocab.txt")
with open(path, "w") as f:
    f.write("alpha\tone\nbeta\ttwo\n")
lines = tf.lookup.TextFileInitializer(path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                      tf.lookup.TextFileIndex.LINE_NUMBER)
print(tf.lookup.StaticHashTable(lines, -1).lookup(tf.constant(["beta\ttwo", "gamma"])))
columns = tf.lookup.TextFileInitializer(path, tf.string, 0, tf.string, 1, delimiter="\t")
print(tf.lookup.StaticHashTable(columns, "none").lookup(tf.constant(["alpha", "gamma"])))
mutable = tf.lookup.experimental.MutableHashTable(key_dtype=tf.string, value_dtype=tf.int64, default_value=0)
mutable.insert(["x", "y"], [10, 20])
mutable.insert(["x"], [11])
print(mutable.lookup(["x", "y", "z"]), mutable.size())
mutable.remove(tf.constant(["y"]))
keys, values = mutable.export()
print(keys, values)
dense = tf.lookup.experimental.DenseHashTable(key_dtype=tf.int64, value_dtype=tf.float32, default_value=-1.0,
                                              empty_key=0, deleted_key=-1)
dense.insert([5, 6], [0.5, 0.6])
print(dense.lookup(tf.constant([6, 7], tf.int64)), dense.size())


@tf.function
def encode(words):
    return table.lookup(tf.strings.lower(words))


print(encode(tf.constant(["LAKE", "Palmer"])))


@tf.function
def count(words):
    for w in words:
        mutable.insert([w], mutable.lookup([w]) + 1)


count(tf.constant(["p", "q", "p", "p"]))
print(mutable.lookup(tf.constant(["p", "q"])))
ds = tf.data.Dataset.from_tensor_slices(["lake", "sea", "emerson"]).map(table.lookup)
print(list(ds.as_numpy_iterator()))
m = tf.Module()
m.table = mutable
print(tf.train.list_variables(tf.train.Checkpoint(m=m).save(os.path.join(os.path.dirname(path), "ck")))[1:3])
for bad in (lambda: table.lookup(tf.constant([1])),
            lambda: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), 0),
            lambda: mutable.insert([1], [1]), lambda: dense.insert([0], [1.0])):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
