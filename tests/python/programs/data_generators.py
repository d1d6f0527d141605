"""Datasets from Python generators: signatures, shapes, arguments, structures, errors inside."""
import tensorflow as tf


def count(stop):
    i = 0
    while i < stop:
        yield i
        i += 1


for n in count(3):
    print(n)
ds_counter = tf.data.Dataset.from_generator(count, args=[25], output_types=tf.int32, output_shapes=())
for count_batch in ds_counter.repeat().batch(10).take(4):
    print(count_batch.numpy())


def gen_series():
    i = 0
    for size in (3, 0, 5, 2, 4):
        yield i, [0.5 * k for k in range(size)]
        i += 1


ds_series = tf.data.Dataset.from_generator(gen_series, output_types=(tf.int32, tf.float32), output_shapes=((), (None,)))
print(ds_series)
for ids, sequence in ds_series.padded_batch(3):
    print(ids.numpy(), sequence.numpy())
signature = (tf.TensorSpec(shape=(), dtype=tf.int32), tf.RaggedTensorSpec(shape=(2, None), dtype=tf.int32))


def ragged_gen():
    ragged_tensor = tf.ragged.constant([[1, 2], [3]])
    yield 42, ragged_tensor


for a, b in tf.data.Dataset.from_generator(ragged_gen, output_signature=signature):
    print(a, b)


def dict_gen():
    for i in range(2):
        yield {"id": i, "text": f"row {i}", "pair": (float(i), True)}


spec = {"id": tf.TensorSpec([], tf.int64), "text": tf.TensorSpec([], tf.string),
        "pair": (tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.bool))}
for row in tf.data.Dataset.from_generator(dict_gen, output_signature=spec):
    print(row)
wrong = tf.data.Dataset.from_generator(lambda: iter([[1, 2], [3]]), output_signature=tf.TensorSpec([2], tf.int32))
try:
    print(list(wrong.as_numpy_iterator()))
except Exception as e:
    print(type(e).__name__)


def failing():
    yield 1
    raise ValueError("from the generator")


try:
    for x in tf.data.Dataset.from_generator(failing, output_signature=tf.TensorSpec([], tf.int32)):
        print(x.numpy())
except Exception as e:
    print(type(e).__name__, "from the generator" in str(e))
try:
    tf.data.Dataset.from_generator(5, output_types=tf.int32)
except TypeError as e:
    print(e)
try:
    tf.data.Dataset.from_generator(failing)
except TypeError as e:
    print(e)
nested = tf.data.Dataset.range(3).flat_map(lambda n: tf.data.Dataset.from_generator(count, args=[n + 1],
    output_signature=tf.TensorSpec([], tf.int64)))
print(list(nested.as_numpy_iterator()))
print(list(tf.data.Dataset.random(seed=4).take(3).as_numpy_iterator()))
