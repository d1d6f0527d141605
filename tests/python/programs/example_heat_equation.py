"""Heat on a plate and on a rod: finite differences with slices, pads and variables."""
import tensorflow as tf

u = tf.Variable(tf.zeros([6, 6]))
u[0, :].assign(tf.ones([6]))


@tf.function
def step(rate):
    inner = u[1:-1, 1:-1]
    laplace = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * inner
    new = inner + rate * laplace
    change = tf.reduce_max(tf.abs(new - inner))
    u.assign(tf.concat([u[:1], tf.concat([u[1:-1, :1], new, u[1:-1, -1:]], 1), u[-1:]], 0))
    return change


for i in range(30):
    change = step(0.2)
    if i % 10 == 9:
        print(i, change.numpy())
print(u.numpy().round(3))


def rod(n, steps, k=0.25):
    x = tf.linspace(0.0, 1.0, n)
    t = tf.sin(3.14159265 * x)
    for _ in range(steps):
        t = t + k * (tf.concat([t[1:], [0.0]], 0) - 2.0 * t + tf.concat([[0.0], t[:-1]], 0))
    return t


print(rod(9, 10).numpy())
print(tf.pad(tf.ones([2, 2]), [[1, 1], [1, 1]]))
with tf.GradientTape() as tape:
    k = tf.Variable(0.25)
    y = tf.reduce_sum(rod(9, 3, k))
print(tape.gradient(y, k).numpy())
