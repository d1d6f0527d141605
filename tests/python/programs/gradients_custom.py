"""custom_gradient, grad_pass_through, recompute_grad, numerically stable functions."""
import tensorflow as tf


@tf.custom_gradient
def clip_gradients(y):
    def backward(dy):
        return tf.clip_by_norm(dy, 0.5)
    return y, backward


v = tf.Variable(2.0)
with tf.GradientTape() as t:
    output = clip_gradients(v * v)
print(t.gradient(output, v))


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(upstream):
        return upstream * (1 - 1 / (1 + e))
    return tf.math.log(1 + e), grad


for value in (0.0, 1.0, 100.0):
    x = tf.constant(value)
    with tf.GradientTape() as t:
        t.watch(x)
        y = log1pexp(x)
    print(y.numpy(), t.gradient(y, x).numpy())


@tf.custom_gradient
def two_by_two(a, b):
    def grad(da, db):
        print("backward", da.shape, db.shape)
        return da * 10.0, db * 100.0
    return (a + b, a * b), grad


a, b = tf.Variable(3.0), tf.Variable([4.0, 5.0])
with tf.GradientTape() as t:
    s, p = two_by_two(a, b)
    total = tf.reduce_sum(s) + tf.reduce_sum(p)
try:
    print(t.gradient(total, [a, b]))
except Exception as e:
    print(type(e).__name__, e)

w = tf.Variable([1.0, 2.0])


@tf.custom_gradient
def scaled(x):
    def grad(dy, variables=None):
        return dy * 7.0, [dy * 1000.0 for _ in variables]
    return x * w, grad


x = tf.constant([1.0, 1.0])
with tf.GradientTape() as t:
    t.watch(x)
    y = scaled(x)
print(t.gradient(y, [x, w]))


@tf.function
def in_function(x):
    return clip_gradients(x * 3.0)


with tf.GradientTape() as t:
    t.watch(x)
    y = in_function(x)
print(t.gradient(y, x))
ste = tf.grad_pass_through(tf.round)
x = tf.Variable([1.4, 2.6])
with tf.GradientTape() as t:
    y = ste(x) * 2.0
print(y, t.gradient(y, x))
block = tf.recompute_grad(lambda z: tf.nn.relu(z) ** 2)
with tf.GradientTape() as t:
    y = block(x)
print(y, t.gradient(y, x))
