"""Roots by Newton's method with tapes; a table of results."""
import tensorflow as tf


def newton(f, x, steps=8):
    x = tf.Variable(x, dtype=tf.float64)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            y = f(x)
        x.assign_sub(y / tape.gradient(y, x))
    return x


for name, f, start in (("x^2-2", lambda x: x**2 - 2, 1.0), ("cos x - x", lambda x: tf.cos(x) - x, 0.5),
                       ("x^3-x-1", lambda x: x**3 - x - 1, 1.5), ("e^x-3", lambda x: tf.exp(x) - 3, 1.0)):
    root = newton(f, start)
    print(f"{name:10} {root.numpy():.10f} {abs(f(root).numpy()) < 1e-9}")
print(root)


@tf.function
def fixed_point(x):
    previous = x + 1.0
    count = 0
    while tf.abs(x - previous) > 1e-6:
        previous = x
        x = tf.cos(x)
        count += 1
    return x, count


value, count = fixed_point(tf.constant(1.0))
print(value, count)
print(tf.abs(tf.cos(value) - value) < 1e-5)
