"""Stateless random numbers: the same seeds give the same numbers; split and fold_in; distributions; shuffle."""
import tensorflow as tf

print(tf.random.stateless_normal(shape=[2, 3], seed=[1, 2]))
print(tf.random.stateless_normal(shape=[2, 3], seed=[1, 2])[0, 0] == tf.random.stateless_normal(shape=[2, 3],
    seed=[1, 2])[0, 0])
print(tf.random.stateless_uniform([3], seed=(1, 2)))
print(tf.random.stateless_uniform([5], (3, 4), minval=0, maxval=100, dtype=tf.int32))
print(tf.random.stateless_uniform([2], (3, 4), minval=None, maxval=None, dtype=tf.uint32))
print(tf.random.stateless_uniform([2], (3, 4), minval=-5, maxval=2**50, dtype=tf.int64))
print(tf.random.stateless_truncated_normal([4], seed=[7, 8], mean=1.0, stddev=0.5))
print(tf.random.stateless_normal([3], seed=[5, 6], dtype=tf.float64),
      tf.random.stateless_normal([3], seed=[5, 6], dtype=tf.float16))
print(tf.random.stateless_categorical(tf.math.log([[0.5, 0.5], [0.1, 0.9]]), 6, seed=[7, 17]))
print(tf.random.stateless_binomial([4], seed=[1, 9], counts=10.0, probs=0.3))
print(tf.random.stateless_poisson([4], seed=[1, 9], lam=4.0))
print(tf.random.stateless_gamma([3], seed=[1, 9], alpha=[0.5, 1.0, 5.0]))
print(tf.random.stateless_parameterized_truncated_normal([3], [1, 2], 0.0, 1.0, -1.0, 1.0))
print(tf.random.experimental.stateless_shuffle(tf.range(10), seed=[1, 2]))
seeds = tf.random.split([1, 2], num=3)
print(seeds)
print(tf.random.experimental.stateless_split([1, 2]), tf.random.fold_in([1, 2], 5),
      tf.random.experimental.stateless_fold_in([3, 4], 1))
print([tf.random.stateless_normal([], s).numpy() for s in tf.unstack(seeds)])
print(tf.random.stateless_uniform([2], [1, 2], alg=tf.random.Algorithm.PHILOX))
print(tf.random.stateless_uniform([2], [1, 2], alg="auto_select"))


@tf.function
def f(seed):
    return tf.random.stateless_normal([2], seed), tf.random.stateless_uniform([2], seed, 0, 5, tf.int32)


print(f(tf.constant([1, 2])), f(tf.constant([3, 2])))
x = tf.random.stateless_normal([1000], [0, 0])
print(tf.reduce_mean(x).numpy(), tf.math.reduce_std(x).numpy())
print(tf.nn.experimental.stateless_dropout(tf.ones([8]), rate=0.5, seed=[1, 0]))
print(tf.image.stateless_random_brightness(tf.ones([1, 1, 3]), 0.5, seed=(1, 2)),
      tf.image.stateless_random_flip_left_right(tf.reshape(tf.range(3.0), [1, 3, 1]), seed=(2, 3))[..., 0])
print(tf.image.stateless_random_crop(tf.reshape(tf.range(16), [4, 4, 1]), [2, 2, 1], seed=(1, 2))[..., 0])
for bad in (lambda: tf.random.stateless_uniform([2], [1, 2], minval=0, dtype=tf.int32),
            lambda: tf.random.stateless_normal([2], [1, 2, 3])):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
