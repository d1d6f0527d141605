"""Scaled dot-product attention with masks, heads and gradients."""
import math
import tensorflow as tf


def attention(q, k, v, mask=None):
    scores = tf.matmul(q, k, transpose_b=True) / math.sqrt(k.shape[-1])
    if mask is not None:
        scores += (1.0 - mask) * -1e9
    weights = tf.nn.softmax(scores, axis=-1)
    return tf.matmul(weights, v), weights


q = tf.constant([[0.0, 10.0, 0.0]])
k = tf.constant([[10.0, 0.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 10.0], [0.0, 0.0, 10.0]])
v = tf.constant([[1.0, 0.0], [10.0, 0.0], [100.0, 5.0], [1000.0, 6.0]])
print(*attention(q, k, v))
x = tf.reshape(tf.cos(tf.range(24.0)), [1, 4, 6])
causal = tf.linalg.band_part(tf.ones([4, 4]), -1, 0)
out, weights = attention(x, x, x, causal)
print(weights[0])


def split_heads(t, heads):
    b, n, d = t.shape
    return tf.transpose(tf.reshape(t, [b, n, heads, d // heads]), [0, 2, 1, 3])


def merge_heads(t):
    b, h, n, d = t.shape
    return tf.reshape(tf.transpose(t, [0, 2, 1, 3]), [b, n, h * d])


@tf.function
def multi_head(x, heads):
    s = split_heads(x, heads)
    o, _ = attention(s, s, s, causal)
    return merge_heads(o)


print(multi_head(x, 2).shape, multi_head(x, 2)[0, 1])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(multi_head(x, 3) ** 2)
print(tape.gradient(y, x)[0])


def positions(n, d):
    p = tf.range(n, dtype=tf.float32)[:, None]
    i = tf.range(d, dtype=tf.float32)[None, :]
    angles = p / tf.pow(10000.0, 2.0 * tf.floor(i / 2.0) / d)
    return tf.where(tf.cast(i, tf.int32) % 2 == 0, tf.sin(angles), tf.cos(angles))


print(positions(3, 4))
mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
print(((x - mean) * tf.math.rsqrt(variance + 1e-6))[0, 0])
