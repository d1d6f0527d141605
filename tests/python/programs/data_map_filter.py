"""Everyday pipelines: map over tuples and dicts, filter, enumerate, zip, take, skip, as lists."""
import tensorflow as tf

ds = tf.data.Dataset.range(10)
print([int(x) for x in ds.map(lambda x: x * 2)])
print([int(x) for x in ds.filter(lambda x: x % 3 == 0)])
print([int(x) for x in ds.map(lambda x: x + 1).filter(lambda x: x > 5).take(3)])
pairs = tf.data.Dataset.from_tensor_slices(([1, 2, 3], ["a", "b", "c"]))
for number, letter in pairs:
    print(number.numpy(), letter.numpy())
for text in pairs.map(lambda n, s: tf.strings.join([s, tf.strings.as_string(n)])):
    print(text.numpy())
records = tf.data.Dataset.from_tensor_slices({"x": [1.0, 2.0, 3.0], "y": [10.0, 20.0, 30.0]})
for r in records.map(lambda r: {**r, "sum": r["x"] + r["y"]}):
    print({k: float(v) for k, v in sorted(r.items())})
print([int(i) for i, _ in records.enumerate()])
zipped = tf.data.Dataset.zip((ds, ds.map(lambda x: x * x)))
print([(int(a), int(b)) for a, b in zipped.skip(7)])
print([int(x) for x in ds.take(3).concatenate(ds.skip(8))])
print(int(ds.reduce(tf.constant(0, tf.int64), lambda a, b: a + b)))
nested = ds.batch(4)
print([b.numpy().tolist() for b in nested])
print([int(x) for x in nested.flat_map(tf.data.Dataset.from_tensor_slices)])
print(ds.element_spec, pairs.element_spec, records.element_spec)
print(len(ds), int(ds.cardinality()), len(nested))


@tf.function
def double(x):
    return x * 2


print([int(x) for x in ds.map(double).take(3)])


class Scale(tf.Module):
    def __init__(self):
        self.k = tf.Variable(5, dtype=tf.int64)

    def __call__(self, x):
        return x * self.k


scale = Scale()
scaled = ds.map(scale)
print([int(x) for x in scaled.take(3)])
scale.k.assign(7)
print([int(x) for x in scaled.take(3)])
