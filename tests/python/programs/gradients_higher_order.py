"""Higher derivatives by nested tapes; gradient of a gradient norm; input gradient regularisation."""
import tensorflow as tf

x = tf.Variable(1.0)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x * x * x
    dy_dx = t1.gradient(y, x)
d2y_dx2 = t2.gradient(dy_dx, x)
print("dy_dx:", dy_dx.numpy())
print("d2y_dx2:", d2y_dx2.numpy())

x = tf.constant([[0.5, -1.0, 2.0]])
w = tf.Variable([[0.1, 0.2], [0.3, -0.4], [-0.5, 0.6]])
bias = tf.Variable([0.05, -0.05])


def layer(inputs):
    return tf.nn.relu(inputs @ w + bias)


with tf.GradientTape() as t2:
    with tf.GradientTape(watch_accessed_variables=False) as t1:
        t1.watch(x)
        y = layer(x)
        out = tf.reduce_sum(y**2)
    g1 = t1.gradient(out, x)
    g1_mag = tf.norm(g1)
dg1_mag = t2.gradient(g1_mag, [w, bias])
print([d.shape for d in dg1_mag])
print(dg1_mag[0], dg1_mag[1])


def nth(f, n):
    if n == 0:
        return f

    def g(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = nth(f, n - 1)(x)
        return tape.gradient(y, x)
    return g


for n in range(5):
    print(n, nth(tf.math.sin, n)(tf.constant(0.5)).numpy(), nth(lambda t: t**4, n)(tf.constant(2.0)).numpy())

compiled = tf.function(nth(tf.math.exp, 3))
print(compiled(tf.constant(1.0)).numpy())
for f in (tf.tanh, tf.sigmoid, tf.math.log, tf.sqrt, tf.math.softplus, tf.nn.elu, tf.math.erf, tf.math.lgamma):
    print([round(float(nth(f, n)(tf.constant(0.75))), 4) for n in range(3)])
