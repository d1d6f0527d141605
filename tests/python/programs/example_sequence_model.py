"""A recurrent cell unrolled in Python, in a tf loop and with scan gives one answer."""
import tensorflow as tf

x = tf.reshape(tf.sin(tf.range(12.0)), [4, 3])
Wx = tf.constant([[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6]])
Wh = tf.constant([[0.5, 0.1], [-0.1, 0.2]])


def cell(h, xt):
    return tf.tanh(tf.linalg.matvec(Wx, xt, transpose_a=True) + tf.linalg.matvec(Wh, h, transpose_a=True))


h = tf.zeros([2])
states = []
for xt in x:
    h = cell(h, xt)
    states.append(h)
print(tf.stack(states))


@tf.function
def loop(x):
    h = tf.zeros([2])
    ta = tf.TensorArray(tf.float32, size=tf.shape(x)[0])
    for t in tf.range(tf.shape(x)[0]):
        h = cell(h, x[t])
        ta = ta.write(t, h)
    return ta.stack()


scanned = tf.scan(cell, x, initializer=tf.zeros([2]))
print(tf.reduce_max(tf.abs(loop(x) - tf.stack(states))).numpy() < 1e-6,
      tf.reduce_max(tf.abs(scanned - tf.stack(states))).numpy() < 1e-6)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(loop(x)[-1])
print(tape.gradient(y, x))
with tf.GradientTape() as tape:
    tape.watch(Wh)
    y = tf.reduce_sum(tf.scan(cell, x, initializer=tf.zeros([2]))[-1])
print(tape.gradient(y, Wh))
_, last = tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, cell(h, x[i])), (tf.constant(0), tf.zeros([2])))
print(last)
