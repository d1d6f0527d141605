"""Operators of tensors: arithmetic, floor division, powers, bits, logic, unary, reflected."""
import tensorflow as tf

a = tf.constant([7, -7, 8])
b = tf.constant([2, 2, -3])
print(a + b, a - b, a * b, a / b, a // b, a % b, a ** 2)
print(-a, abs(a), ~a, a & b, a | b, a ^ b)
print(10 - a, 10 / tf.constant([4.0]), 10 // a, 10 % a, 2 ** tf.constant([1, 2, 3]))
f = tf.constant([1.5, -2.5, 3.0])
print(f + 1, f / 2, f // 2, f % 2, f ** 2, 2.0 ** f, abs(f), -f, divmod(7, 2))
p, q = tf.constant([True, True, False]), tf.constant([True, False, False])
print(p & q, p | q, p ^ q, ~p, tf.logical_and(p, q), tf.logical_or(p, q), tf.logical_not(p), tf.math.logical_xor(p, q))
print(tf.truediv(a, 2), tf.math.floordiv(a, 2), tf.math.floormod(a, 3), tf.truncatediv(a, 2), tf.truncatemod(a, 2),
      tf.divide(7, 2))
print(tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0]), tf.math.multiply_no_nan([1.0], [0.0]), tf.constant([1.0]) / 0)
print(tf.subtract(5, 3), tf.add(5.0, 3), tf.multiply([1, 2], [3, 4]), tf.pow([2, 3], 2), tf.negative(3),
      tf.sign([-2.0, 0.0, 5.0]))
print(tf.square([1, 2, 3]), tf.sqrt([4.0, 9.0]), tf.abs(-3), tf.round([0.5, 1.5, 2.5, -0.5]), tf.floor([1.7]),
      tf.math.ceil([1.2]))
print(tf.add_n([a, b, a]), tf.math.add_n([f, f]), tf.math.accumulate_n([a, a]))
print(tf.clip_by_value([1, 5, 9], 2, 7), tf.clip_by_norm([3.0, 4.0], 2.0), tf.clip_by_global_norm([[3.0], [4.0]], 1.0))
try:
    tf.constant(1) // tf.constant(0)
except Exception as e:
    print(type(e).__name__, e)
try:
    tf.constant(1) % 0
except Exception as e:
    print(type(e).__name__, e)
try:
    tf.constant(1) + None
except Exception as e:
    print(type(e).__name__, e)
