"""Reductions over axes, keepdims, booleans, integers, empty, segments, statistics; argmax ties."""
import tensorflow as tf

x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
for name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_logsumexp"):
    f = getattr(tf, name)
    print(name, f(x), f(x, 0), f(x, axis=1), f(x, axis=[0, 1], keepdims=True), f(x, -1, True), f(x, axis=[]))
print(tf.math.reduce_std(x), tf.math.reduce_variance(x, axis=0), tf.math.reduce_euclidean_norm(x),
      tf.math.reduce_euclidean_norm(x, 1))
b = tf.constant([[True, False], [True, True]])
print(tf.reduce_all(b), tf.reduce_any(b, 1), tf.reduce_all(b, axis=0, keepdims=True), tf.math.reduce_all(b, 1))
i = tf.constant([[7, 2], [3, 9]])
print(tf.reduce_sum(i), tf.reduce_mean(i), tf.reduce_mean(tf.cast(i, tf.float32)), tf.reduce_prod(i, 1),
      tf.reduce_max(i, 0))
print(tf.reduce_sum(tf.zeros([0, 3])), tf.reduce_max(tf.zeros([0])), tf.reduce_prod(tf.zeros([0, 2]), 0),
      tf.reduce_mean(tf.zeros([0])), tf.reduce_all(tf.zeros([0], tf.bool)))
print(tf.argmax([1, 5, 5, 2]), tf.argmax(x), tf.argmax(x, axis=1, output_type=tf.int32),
      tf.argmin([[3.0, 1.0], [0.5, 2.0]], axis=0), tf.argmax([[2.0, 2.0]], axis=-1))
print(tf.math.count_nonzero(i > 2, axis=0), tf.math.count_nonzero(["", "a"]), tf.nn.moments(x, axes=[0]),
      tf.nn.moments(x, [0, 1], keepdims=True))
print(tf.nn.weighted_moments(x, [0], [[1.0], [3.0]]), tf.nn.sufficient_statistics(x, [0])[:3],
      tf.nn.normalize_moments(2.0, tf.constant([4.0]), tf.constant([10.0]), None))
print(tf.reduce_sum([1, 2, 3]), tf.reduce_sum(range(4)), tf.reduce_sum((1.5, 2.5)), tf.reduce_max([[1], [2]]),
      tf.reduce_sum(5))
print(tf.math.reduce_mean([1.0, 2.0]), tf.math.reduce_max([1, 2]), tf.math.reduce_min([1, 2]),
      tf.math.reduce_sum([1, 2]), tf.math.reduce_any([False]), tf.math.reduce_prod([2, 3]),
      tf.math.reduce_logsumexp([0.0, 0.0]))
print(tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1), tf.strings.reduce_join([["a", "b"], ["c", "d"]]),
      tf.strings.reduce_join(["x", "y"], separator="/"))
big = tf.range(1000, dtype=tf.float32)
print(tf.reduce_sum(big), tf.reduce_mean(big), tf.math.reduce_std(big), tf.reduce_sum(tf.cast(big, tf.float16)) ,
      tf.reduce_sum(tf.cast(big, tf.int64)))
for bad in (lambda: tf.reduce_sum(x, axis=2), lambda: tf.reduce_sum(x, axis=[0, 0]), lambda: tf.reduce_all(x),
            lambda: tf.reduce_sum(["a"]), lambda: tf.argmax(x, axis=5),
            lambda: tf.math.reduce_std(i), lambda: tf.reduce_sum(x, axis=0.5)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
print(tf.bitwise.bitwise_and([12, 10], [10, 6]), tf.bitwise.bitwise_or(12, 10), tf.bitwise.bitwise_xor(12, 10),
      tf.bitwise.invert(tf.constant([0, 5], tf.int8)), tf.bitwise.left_shift([1, 2], 3),
      tf.bitwise.right_shift([-16, 16], 2))
