"""Gradients through Python control flow, tf.cond, tf.while_loop and functions."""
import tensorflow as tf

x = tf.constant(1.0)
v0, v1 = tf.Variable(2.0), tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    if x > 0.0:
        result = v0
    else:
        result = v1**2
print(tape.gradient(result, [v0, v1]))
print(tape.gradient(result, x))


def power(x, n):
    r = tf.ones([])
    for _ in range(n):
        r *= x
    return r


for n in range(4):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x * 2, n)
    print(n, y.numpy(), tape.gradient(y, x))

for value in (-1.0, 2.0):
    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        y = tf.cond(x > 0, lambda: x * x * x, lambda: -x)
    print(tape.gradient(y, x).numpy())

x = tf.Variable(1.5)
with tf.GradientTape() as tape:
    i, r = tf.while_loop(lambda i, r: i < 4, lambda i, r: (i + 1, r * x), [tf.constant(0), tf.constant(1.0)])
print(r.numpy(), tape.gradient(r, x).numpy())


@tf.function
def collatz_like(x):
    n = 0
    while tf.abs(x) > 1.0:
        if tf.reduce_sum(x) > 4.0:
            x = x / 3.0
        else:
            x = x / 2.0
        n += 1
    return x * x, n


x = tf.Variable(10.0)
with tf.GradientTape() as tape:
    y, n = collatz_like(x)
print(y.numpy(), n.numpy(), tape.gradient(y, x).numpy())


@tf.function
def grad_inside(x, steps):
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.zeros([])
        for i in tf.range(steps):
            total += tf.sin(x * tf.cast(i, tf.float32))
    return tape.gradient(total, x)


print(grad_inside(tf.constant(0.5), tf.constant(4)).numpy())
ta_source = tf.constant([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    tape.watch(ta_source)
    ta = tf.TensorArray(tf.float32, size=3)
    for i in range(3):
        ta = ta.write(i, ta_source[i] ** (i + 1))
    y = tf.reduce_sum(ta.stack())
print(tape.gradient(y, ta_source).numpy())
