"""Accumulated gradients, clipping, schedules, moving averages of weights; the sums agree with a large batch."""
import tensorflow as tf

x = tf.random.stateless_normal([16, 3], [1, 2])
y = tf.linalg.matvec(x, [1.0, -2.0, 0.5]) + 0.3
w, b = tf.Variable([0.1, 0.2, 0.3]), tf.Variable(0.0)
variables = [w, b]


def loss_of(x, y):
    return tf.reduce_mean((tf.linalg.matvec(x, w) + b - y) ** 2)


with tf.GradientTape() as tape:
    loss = loss_of(x, y)
whole = tape.gradient(loss, variables)
parts = [tf.zeros_like(v) for v in variables]
for bx, by in tf.data.Dataset.from_tensor_slices((x, y)).batch(4):
    with tf.GradientTape() as tape:
        loss = loss_of(bx, by)
    parts = [p + g / 4.0 for p, g in zip(parts, tape.gradient(loss, variables))]
print([tf.reduce_max(tf.abs(a - c)).numpy() < 1e-5 for a, c in zip(whole, parts)])
accumulators = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
average = [tf.Variable(v) for v in variables]
step = tf.Variable(0)


@tf.function
def accumulate(bx, by):
    with tf.GradientTape() as tape:
        loss = loss_of(bx, by)
    for a, g in zip(accumulators, tape.gradient(loss, variables)):
        a.assign_add(g / 4.0)
    return loss


@tf.function
def apply():
    step.assign_add(1)
    rate = 0.2 * tf.pow(0.9, tf.cast(step, tf.float32))
    grads, norm = tf.clip_by_global_norm([a.value() for a in accumulators], 1.0)
    for v, g, a, m in zip(variables, grads, accumulators, average):
        v.assign_sub(rate * g)
        a.assign(tf.zeros_like(a))
        m.assign(0.5 * m + 0.5 * v)
    return norm, rate


for epoch in range(8):
    for bx, by in tf.data.Dataset.from_tensor_slices((x, y)).batch(4):
        accumulate(bx, by)
    norm, rate = apply()
    print(epoch, f"loss {loss_of(x, y).numpy():.4f} norm {norm.numpy():.4f} rate {rate.numpy():.4f}")
print([m.numpy().round(3).tolist() for m in average], step.numpy())
