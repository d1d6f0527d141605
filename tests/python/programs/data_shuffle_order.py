"""Orders of shuffled, interleaved, sampled and chosen datasets for given seeds."""
import tensorflow as tf

ds = tf.data.Dataset.range(12)
print(list(ds.shuffle(4, seed=1).as_numpy_iterator()))
print(list(ds.shuffle(12, seed=2).as_numpy_iterator()))
print(list(ds.shuffle(100, seed=3).batch(5).as_numpy_iterator()))
s = ds.shuffle(6, seed=5)
print(list(s.as_numpy_iterator()), list(s.as_numpy_iterator()))
s = ds.shuffle(6, seed=5, reshuffle_each_iteration=False)
print(list(s.as_numpy_iterator()), list(s.as_numpy_iterator()))
print(list(ds.take(5).shuffle(5, seed=7).repeat(2).as_numpy_iterator()))
print(list(ds.take(5).repeat(2).shuffle(5, seed=7).as_numpy_iterator()))
a, b, c = (tf.data.Dataset.from_tensors(x).repeat() for x in "abc")
print(list(tf.data.Dataset.sample_from_datasets([a, b], weights=[0.2, 0.8], seed=9).take(12).as_numpy_iterator()))
choice = tf.data.Dataset.range(3).repeat(2)
print(list(tf.data.Dataset.choose_from_datasets([a, b, c], choice).as_numpy_iterator()))
print(list(tf.data.Dataset.range(1, 4).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(5), cycle_length=2,
                                                  block_length=3).as_numpy_iterator()))
print(list(tf.data.Dataset.range(4).interleave(lambda x: tf.data.Dataset.range(x * 10, x * 10 + 3), cycle_length=4,
                                               num_parallel_calls=2, deterministic=True).as_numpy_iterator()))
print(list(tf.data.Dataset.range(3).flat_map(lambda x: tf.data.Dataset.range(x)).as_numpy_iterator()))
fast = tf.data.Dataset.range(5).map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
print(list(fast.as_numpy_iterator()))
tf.random.set_seed(77)
print(list(ds.shuffle(12).as_numpy_iterator()))
print(list(ds.shuffle(12, seed=1).as_numpy_iterator()))
print(list(ds.shuffle(12, seed=tf.constant(1, tf.int64)).as_numpy_iterator()))
print(tf.data.AUTOTUNE, [x.numpy() for x in tf.data.experimental.Counter(start=5, step=2).take(3)],
      [x.numpy() for x in tf.data.Dataset.counter(1).take(2)])
zipped = tf.data.Dataset.zip(ds.shuffle(3, seed=1), ds.shuffle(3, seed=1))
print(all(x.numpy() == y.numpy() for x, y in zipped))
