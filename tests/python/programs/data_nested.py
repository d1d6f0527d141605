"""Datasets of structures and datasets of datasets: dicts, tuples, named tuples, windows, flat_map, interleave."""
import collections
import tensorflow as tf

Row = collections.namedtuple("Row", "id features")
rows = tf.data.Dataset.from_tensor_slices(Row(tf.range(4), {"a": tf.range(4.0), "b": tf.reshape(tf.range(8), [4, 2])}))
print(rows.element_spec)
for row in rows.take(2):
    print(type(row).__name__, row.id.numpy(), row.features["b"].numpy())
swapped = rows.map(lambda row: (row.features["a"], Row(row.id, row.features["b"][::-1])))
print(swapped.element_spec)
print([(a.numpy(), r.features.numpy().tolist()) for a, r in swapped])
batched = rows.batch(3)
for b in batched:
    print(b.id.numpy(), b.features["b"].shape)
zipped = tf.data.Dataset.zip({"x": tf.data.Dataset.range(3), "y": (tf.data.Dataset.range(3, 6), rows)})
for z in zipped:
    print(z["x"].numpy(), z["y"][0].numpy(), z["y"][1].id.numpy())
windows = tf.data.Dataset.range(6).window(3)
print(windows.element_spec)
print([[int(x) for x in w] for w in windows])
sums = windows.map(lambda w: w.reduce(tf.constant(0, tf.int64), lambda a, b: a + b))
print([int(s) for s in sums])
print([int(x) for x in tf.data.Dataset.range(1, 4).flat_map(lambda n: tf.data.Dataset.range(n))])
print([int(x) for x in tf.data.Dataset.range(3).interleave(lambda n: tf.data.Dataset.from_tensors(n).repeat(2),
                                                           cycle_length=3)])
pairs = tf.data.Dataset.range(2).flat_map(lambda a: tf.data.Dataset.range(3).map(lambda b: (a, b, a * 10 + b)))
print([tuple(int(v) for v in p) for p in pairs])
nothing = tf.data.Dataset.from_tensor_slices({"x": tf.zeros([0, 2])})
print(list(nothing), len(nothing))
total = rows.reduce({"n": 0, "sum": 0.0}, lambda s, row: {"n": s["n"] + 1, "sum": s["sum"] + row.features["a"]})
print({k: v.numpy() for k, v in sorted(total.items())})
lists = tf.data.Dataset.from_tensor_slices([[1, 2, 3], [4, 5, 6]]).map(lambda r: tf.unstack(r))
print([tuple(int(v) for v in t) for t in lists], lists.element_spec)
mixed = tf.data.Dataset.from_tensors(("text", 1, 2.5, [True, False], ()))
print(mixed.element_spec, list(mixed))
print(tf.nest.map_structure(lambda t: t.shape, rows.element_spec))
try:
    tf.data.Dataset.zip((rows, 5))
except TypeError as e:
    print(type(e).__name__)
