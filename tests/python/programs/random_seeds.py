"""Global and operation seeds: set_seed, op seeds, sequences of the legacy random ops, shuffle, functions with seeds."""
import tensorflow as tf

tf.random.set_seed(1234)
print(tf.random.uniform([1]), tf.random.uniform([1]))
tf.random.set_seed(1234)
print(tf.random.uniform([1]), tf.random.uniform([1]))
tf.random.set_seed(1234)
print(tf.random.uniform([1], seed=1), tf.random.uniform([1], seed=1))
tf.random.set_seed(1234)
print(tf.random.uniform([1], seed=1), tf.random.uniform([1], seed=1))
tf.random.set_seed(5)
print(tf.random.normal([2, 2]), tf.random.normal([2], mean=3.0, stddev=0.1), tf.random.truncated_normal([3]))
print(tf.random.uniform([4], 0, 10, tf.int32), tf.random.uniform([2], 5.0, 6.0, tf.float64),
      tf.random.shuffle(tf.range(8)))
print(tf.random.categorical(tf.math.log([[0.3, 0.7]]), 8), tf.random.gamma([2], 1.5), tf.random.poisson([3], [4.0]))
print(tf.nn.dropout(tf.ones([10]), rate=0.4),
      tf.image.random_flip_left_right(tf.reshape(tf.range(4), [1, 4, 1]))[..., 0])
tf.random.set_seed(99)
a = tf.random.normal([3], seed=7)
tf.random.set_seed(99)
b = tf.random.normal([3], seed=7)
print((a == b).numpy())


@tf.function
def f():
    return tf.random.uniform([1]), tf.random.uniform([1])


@tf.function
def g():
    return tf.random.uniform([1], seed=3), tf.random.normal([2], seed=3)


tf.random.set_seed(10)
print(f(), f())
tf.random.set_seed(10)
print(g(), g())
tf.random.set_seed(10)
print(g(), g())
tf.random.set_seed(1)
ds = tf.data.Dataset.range(10).shuffle(10)
print(list(ds.as_numpy_iterator()), list(ds.as_numpy_iterator()))
tf.random.set_seed(1)
ds = tf.data.Dataset.range(10).shuffle(10, seed=4, reshuffle_each_iteration=False)
print(list(ds.as_numpy_iterator()), list(ds.as_numpy_iterator()))
print(tf.random.fixed_unigram_candidate_sampler([[0]], 1, 2, False, 4, unigrams=[1.0, 1.0, 1.0, 1.0],
                                                seed=1).sampled_candidates)
print(tf.random.log_uniform_candidate_sampler([[0]], 1, 3, True, 10, seed=2).sampled_candidates)
