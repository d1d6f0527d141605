"""Boosted stumps: thresholds by sorting, weighted errors, votes; all with tensor operations."""
import tensorflow as tf

x = tf.random.stateless_uniform([40, 2], [7, 7])
y = tf.where(x[:, 0] + 0.5 * x[:, 1] > 0.7, 1.0, -1.0)
print(tf.reduce_sum(tf.cast(y > 0, tf.int32)).numpy())


@tf.function
def best_stump(x, y, weights):
    thresholds = tf.linspace(0.05, 0.95, 19)
    # [threshold, example, feature]
    guess = tf.where(x[None] > thresholds[:, None, None], 1.0, -1.0)
    wrong = tf.cast(guess != y[None, :, None], tf.float32)
    errors = tf.reduce_sum(wrong * weights[None, :, None], axis=1)
    flipped = 1.0 - errors
    both = tf.stack([errors, flipped])
    flat = tf.argmin(tf.reshape(both, [-1]), output_type=tf.int32)
    s, t, f = tf.unstack(tf.unravel_index(flat, tf.shape(both)))
    return thresholds[t], f, 1.0 - 2.0 * tf.cast(s, tf.float32), tf.reduce_min(both)


def vote(x, threshold, feature, sign):
    return sign * tf.where(tf.gather(x, feature, axis=1) > threshold, 1.0, -1.0)


weights = tf.fill([40], 1.0 / 40.0)
score = tf.zeros([40])
for i in range(5):
    threshold, feature, sign, error = best_stump(x, y, weights)
    alpha = 0.5 * tf.math.log((1.0 - error) / error)
    h = vote(x, threshold, feature, sign)
    score += alpha * h
    weights = weights * tf.exp(-alpha * y * h)
    weights /= tf.reduce_sum(weights)
    accuracy = tf.reduce_mean(tf.cast(tf.sign(score) == y, tf.float32))
    print(i, f"{threshold.numpy():.2f}", feature.numpy(), sign.numpy(), f"{error.numpy():.4f} {accuracy.numpy():.3f}")
print(tf.math.top_k(weights, 3).indices.numpy(), f"{tf.reduce_max(weights).numpy():.4f}")
print(tf.math.confusion_matrix(tf.cast(y > 0, tf.int32), tf.cast(score > 0, tf.int32)))
