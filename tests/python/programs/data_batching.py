"""batch, padded_batch, ragged_batch, unbatch, window, group_by_window, bucket_by_sequence_length, rebatch."""
import tensorflow as tf

inc = tf.data.Dataset.range(100)
dec = tf.data.Dataset.range(0, -100, -1)
batched = tf.data.Dataset.zip((inc, dec)).batch(4)
for batch in batched.take(3):
    print([arr.numpy() for arr in batch])
print(batched)
print(inc.batch(7, drop_remainder=True))
dataset = tf.data.Dataset.range(10).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
for batch in dataset.padded_batch(4, padded_shapes=(None,)):
    print(batch.numpy())
print(list(dataset.padded_batch(3, padded_shapes=12, padding_values=tf.constant(-1, tf.int64)).take(1))[0].shape)
d = tf.data.Dataset.from_generator(lambda: [{"a": [1], "b": "x"}, {"a": [2, 3], "b": "yy"}],
                                   output_types={"a": tf.int32, "b": tf.string}, output_shapes={"a": [None], "b": []})
print(list(d.padded_batch(2, padding_values={"a": -7, "b": ""}).as_numpy_iterator()))
for b in dataset.take(5).ragged_batch(3):
    print(b)
print(list(inc.batch(3).take(2).unbatch().as_numpy_iterator()),
      list(tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).unbatch().as_numpy_iterator()))
for w in tf.data.Dataset.range(7).window(3):
    print([x.numpy() for x in w], end=" ")
print()
for w in tf.data.Dataset.range(7).window(3, shift=1, stride=2, drop_remainder=True):
    print([x.numpy() for x in w], end=" ")
print()
windows = tf.data.Dataset.range(10).window(5, shift=2, drop_remainder=True).flat_map(lambda w: w.batch(5))
for w in windows:
    print(w.numpy())
pairs = tf.data.Dataset.from_tensor_slices((tf.range(6), tf.range(6) * 10)).window(2)
for a, b in pairs:
    print([x.numpy() for x in a], [y.numpy() for y in b])
print(pairs)
grouped = tf.data.Dataset.range(10).group_by_window(key_func=lambda x: x % 2, reduce_func=lambda key, ds: ds.batch(3),
                                                    window_size=3)
print([b.numpy().tolist() for b in grouped])
elements = [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19, 20], [21, 22]]
ds = tf.data.Dataset.from_generator(lambda: elements, tf.int64, output_shapes=[None])
for elem in ds.bucket_by_sequence_length(lambda e: tf.shape(e)[0], bucket_boundaries=[3, 5],
                                         bucket_batch_sizes=[2, 2, 2]):
    print(elem.numpy())
print([b.numpy().tolist() for b in tf.data.Dataset.range(7).batch(4).rebatch(3)],
      [b.numpy().tolist() for b in tf.data.Dataset.range(5).batch(2, num_parallel_calls=2, deterministic=True)])
print([x.numpy().tolist() for x in tf.data.Dataset.range(6).apply(tf.data.experimental.dense_to_ragged_batch(4))])
try:
    print(list(dataset.batch(3)))
except tf.errors.InvalidArgumentError as e:
    print(type(e).__name__)
