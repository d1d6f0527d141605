"""ForwardAccumulator: Jacobian-vector products, forward over backward."""
import tensorflow as tf

x = tf.constant([[2.0, 3.0], [1.0, 4.0]])
targets = tf.constant([[1.0], [-1.0]])
w = tf.Variable([[0.1], [-0.2]])
with tf.autodiff.ForwardAccumulator(primals=w, tangents=tf.constant([[1.0], [0.0]])) as acc:
    loss = tf.reduce_sum((tf.sigmoid(x @ w) - targets) ** 2.0)
print(loss.numpy(), acc.jvp(loss))

v = tf.Variable([1.0, 2.0])
with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as acc:
    y = tf.math.sin(v) * v
    z = tf.constant(3.0) * 2.0
print(acc.jvp(y), acc.jvp(z), acc.jvp(z, unconnected_gradients=tf.UnconnectedGradients.ZERO))

v = tf.Variable([1.0, 2.0, 3.0])
with tf.autodiff.ForwardAccumulator(v, tf.constant([0.0, 1.0, 0.0])) as acc:
    with tf.GradientTape() as tape:
        f = tf.reduce_sum(v**3) * v[0]
    backward = tape.gradient(f, v)
print(backward)
print(acc.jvp(backward))

p, q = tf.constant(2.0), tf.constant(5.0)
with tf.autodiff.ForwardAccumulator((p, q), (tf.constant(1.0), tf.constant(10.0))) as acc:
    out = {"a": p * q, "b": [p / q]}
print(acc.jvp(out))


@tf.function
def jvp(x, dx):
    with tf.autodiff.ForwardAccumulator(x, dx) as acc:
        y = tf.exp(x) + tf.nn.relu(x)
    return acc.jvp(y)


print(jvp(tf.constant([0.0, 1.0]), tf.constant([1.0, 1.0])))
try:
    tf.autodiff.ForwardAccumulator(tf.constant(1.0), tf.constant([1.0, 2.0]))
except ValueError as e:
    print(e)
