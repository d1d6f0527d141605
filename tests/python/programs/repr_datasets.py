"""What datasets and iterators say of themselves: repr of each kind of dataset, specs, iterators, options."""
import tensorflow as tf

ds = tf.data.Dataset.range(10)
for d in (ds, ds.map(lambda x: x), ds.map(lambda x: x, num_parallel_calls=2), ds.batch(2),
          ds.batch(2, drop_remainder=True),
          ds.filter(lambda x: x > 1), ds.shuffle(3), ds.repeat(2), ds.take(1), ds.skip(1), ds.cache(), ds.prefetch(1),
          ds.concatenate(ds), tf.data.Dataset.zip((ds, ds)), ds.enumerate(), ds.window(2), ds.batch(2).unbatch(),
          ds.flat_map(tf.data.Dataset.from_tensors), ds.interleave(tf.data.Dataset.from_tensors), ds.shard(2, 0),
          ds.padded_batch(2), ds.ragged_batch(2), ds.scan(0, lambda s, x: (s, x)), ds.take_while(lambda x: x < 3),
          ds.unique(), ds.batch(2).rebatch(3), ds.with_options(tf.data.Options()), ds.ignore_errors(),
          tf.data.Dataset.from_tensors(1), tf.data.Dataset.from_tensor_slices({"a": [1], "b": ["x"]}),
          tf.data.Dataset.from_generator(lambda: [1], output_types=tf.int32), tf.data.TextLineDataset("none"),
          tf.data.TFRecordDataset("none"), tf.data.FixedLengthRecordDataset("none", 2), tf.data.Dataset.counter(),
          tf.data.Dataset.random(seed=1), tf.data.Dataset.sample_from_datasets([ds, ds]),
          ds.group_by_window(lambda x: x, lambda k, d: d, 2), tf.data.experimental.CsvDataset("none", [tf.int32])):
    print(d)
print(repr(ds) == str(ds), ds.element_spec)
it = iter(ds)
print(type(it).__name__, it.element_spec)
print(tf.type_spec_from_value(ds), tf.data.DatasetSpec(tf.TensorSpec([None], tf.string)))
print(tf.data.Dataset.from_tensors(tf.ragged.constant([[1], []])),
      tf.data.Dataset.from_tensors(tf.sparse.from_dense([[1]])))
print([type(x).__name__ for x in (ds.as_numpy_iterator(), ds.options())], next(ds.as_numpy_iterator()))
