"""Single elements by their index, lists as datasets, padding, tables from datasets, databases."""
import os
import sqlite3
import tempfile
import tensorflow as tf

Dataset = tf.data.Dataset
experimental = tf.data.experimental
numbers = Dataset.from_tensor_slices([10, 20, 30, 40])


def attempt(action):
    try:
        print(action())
    except Exception as e:
        print(type(e).__name__, str(e).split("}} ")[-1].split(" [Op:")[0])


print(experimental.at(numbers, 2).numpy(), experimental.at(numbers.map(lambda x: x + 1), 3).numpy())
print(experimental.at(numbers.batch(3), 1).numpy(), experimental.at(numbers.skip(1).take(2), 1).numpy())
print(experimental.at(numbers.shard(2, 1), 1).numpy(), experimental.at(numbers.repeat(3), 9).numpy())
print([t.numpy() for t in experimental.at(Dataset.zip((numbers, Dataset.range(5, 9))), 1)])
print(experimental.at(numbers.concatenate(Dataset.from_tensors(5)), 4).numpy(), experimental.at(Dataset.range(3, 30, 5), 2).numpy())
print(experimental.at(numbers.filter(lambda x: x > 10).cache(), 0).numpy(), experimental.at(numbers.prefetch(2), 0).numpy())
attempt(lambda: experimental.at(numbers, 4))
attempt(lambda: experimental.at(numbers, -1))
attempt(lambda: experimental.at(numbers.filter(lambda x: x > 10), 0))

pairs = experimental.from_list([(1, "a"), (2, "b")])
print(pairs, [(n, s) for n, s in pairs.as_numpy_iterator()], pairs.cardinality().numpy())
uneven = experimental.from_list([[1], [2, 3]])
print(uneven.element_spec, [x.tolist() for x in uneven.as_numpy_iterator()], experimental.at(uneven, 1).numpy())
attempt(lambda: experimental.from_list([]))
attempt(lambda: experimental.from_list((1, 2)))

padded = Dataset.from_tensor_slices({"a": [1, 2], "t": ["x", "y"]}).apply(experimental.pad_to_cardinality(4))
print([sorted(e.items()) for e in padded.as_numpy_iterator()])
attempt(lambda: numbers.apply(experimental.pad_to_cardinality(5)))
attempt(lambda: Dataset.from_tensor_slices({"a": [1, 2]}).apply(experimental.pad_to_cardinality(1)))

words = Dataset.from_tensor_slices(["x", "y", "z"])
initializer = experimental.DatasetInitializer(Dataset.zip((words, Dataset.range(3))))
table = tf.lookup.StaticHashTable(initializer, -1)
print(table.lookup(tf.constant(["z", "q"])).numpy(), table.size().numpy())
print(experimental.index_table_from_dataset(words).lookup(tf.constant(["y", "q"])).numpy())
hashed = experimental.index_table_from_dataset(words, num_oov_buckets=3)
print(hashed.lookup(tf.constant(["z", "q", "r"])).numpy(), hashed.size().numpy())
print(experimental.index_table_from_dataset(words, vocab_size=2).lookup(tf.constant(["z", "y"])).numpy())
upper = experimental.table_from_dataset(words.map(lambda w: (w, tf.strings.upper(w))), default_value="?")
print(upper.lookup(tf.constant(["x", "q"])).numpy())
attempt(lambda: experimental.index_table_from_dataset(words, vocab_size=0))
attempt(lambda: experimental.index_table_from_dataset(words, vocab_size=5))
attempt(lambda: experimental.table_from_dataset(Dataset.zip((words, words))))
attempt(lambda: experimental.DatasetInitializer(Dataset.from_tensor_slices(([[1]], [2]))))


def example(i):
    feature = {
        "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
        "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"q"] * i)),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


features = {"a": tf.io.FixedLenFeature([], tf.int64), "b": tf.io.VarLenFeature(tf.string)}
examples = Dataset.from_tensor_slices([example(i) for i in range(3)])
for parsed in examples.batch(2).apply(experimental.parse_example_dataset(features)):
    print(parsed["a"].numpy(), parsed["b"].values.numpy(), parsed["b"].dense_shape.numpy())
attempt(lambda: examples.apply(experimental.parse_example_dataset(features)))

name = os.path.join(tempfile.mkdtemp(), "people.db")
database = sqlite3.connect(name)
database.execute("create table people (name text, age integer, height real)")
database.executemany("insert into people values (?, ?, ?)", [("ann", 31, 1.75), ("bob", -70000, 1.5), (None, None, None)])
database.commit()


def query(text, types):
    return experimental.SqlDataset("sqlite", name, text, types)


for row in query("select name, age, height from people order by age desc", (tf.string, tf.int32, tf.float64)):
    print([t.numpy() for t in row])
print([row[0].numpy() for row in query("select age from people", (tf.int8,))], query("select 1", (tf.bool,)).element_spec)
print([row[0].numpy() for row in query("select age from people", (tf.string,))])
attempt(lambda: list(query("select nope from people", (tf.int32,))))
attempt(lambda: list(query("select name, age from people", (tf.string,))))
attempt(lambda: query("select height from people", (tf.float32,)))
attempt(lambda: experimental.SqlDataset("mysql", name, "select 1", (tf.int32,)))
attempt(lambda: Dataset.range(4).shard(experimental.SHARD_HINT, 0))
