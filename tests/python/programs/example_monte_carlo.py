"""Monte Carlo with stateless numbers: pi, a random walk, bootstrap; the same numbers each time."""
import tensorflow as tf


@tf.function
def estimate_pi(n, seed):
    p = tf.random.stateless_uniform([n, 2], seed)
    return 4.0 * tf.reduce_mean(tf.cast(tf.reduce_sum(p**2, axis=1) < 1.0, tf.float32))


for i in range(3):
    print(estimate_pi(2000, tf.constant([i, 7])).numpy())
walk = tf.cumsum(tf.where(tf.random.stateless_uniform([20], [1, 1]) < 0.5, -1, 1))
print(walk.numpy())
data = tf.constant([2.0, 4.0, 4.0, 5.0, 7.0, 9.0])
picks = tf.random.stateless_uniform([200, 6], [2, 2], 0, 6, tf.int32)
means = tf.reduce_mean(tf.gather(data, picks), axis=1)
print(tf.reduce_mean(means).numpy(), tf.math.reduce_std(means).numpy())
g = tf.random.Generator.from_seed(123)
print(g.normal([3]).numpy(), g.uniform([2], maxval=10, dtype=tf.int32).numpy())
h = tf.random.Generator.from_seed(123)
print(tf.reduce_all(h.normal([3]) == tf.random.Generator.from_seed(123).normal([3])).numpy())
order = tf.argsort(tf.random.stateless_uniform([6], [5, 6]))
print(tf.gather(data, order).numpy())
tf.random.set_seed(42)
print(tf.random.normal([2]).numpy(), tf.random.uniform([2]).numpy(), tf.random.shuffle(tf.range(6)).numpy())
dice = tf.random.stateless_uniform([1000], [3, 3], 1, 7, tf.int32)
print(tf.math.bincount(dice, minlength=7).numpy())
