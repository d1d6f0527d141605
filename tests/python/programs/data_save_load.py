"""Datasets saved and loaded: numbers, structures, ragged rows; what is kept of specs and cardinality."""
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()


def again(name, ds):
    path = os.path.join(folder, name)
    ds.save(path)
    return tf.data.Dataset.load(path)


numbers = again("numbers", tf.data.Dataset.range(5))
print(list(numbers.as_numpy_iterator()), numbers.element_spec, numbers.cardinality().numpy())
rows = again("rows", tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]}))
print(sorted(rows.element_spec.items()), [sorted(r.items()) for r in rows.as_numpy_iterator()])
batches = again("batches", tf.data.Dataset.range(7).batch(3))
print([b.numpy().tolist() for b in batches])
ragged = again("ragged", tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]])))
print([r.numpy().tolist() for r in ragged])
shuffled = again("shuffled", tf.data.Dataset.range(6).shuffle(6, seed=1, reshuffle_each_iteration=False))
print(list(shuffled.as_numpy_iterator()) == list(shuffled.as_numpy_iterator()))
cached = tf.data.Dataset.range(3).cache(os.path.join(folder, "cache"))
print(list(cached.as_numpy_iterator()), list(cached.as_numpy_iterator()))
try:
    tf.data.Dataset.load(os.path.join(folder, "nothing"))
except Exception as e:
    print(type(e).__name__)
