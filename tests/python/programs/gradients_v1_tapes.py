"""Tapes in graphs of version 1: tensors, resource and ref variables, persistent tapes, jacobians, functions."""
import tensorflow as tf
from calls import show, shown

v1 = tf.compat.v1


def run(fetches, feed=None):
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        return s.run(fetches, feed)


with tf.Graph().as_default():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    print(run(tape.gradient(y, x)))

with tf.Graph().as_default():
    v = v1.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    frozen = v1.get_variable("f", initializer=[5.0, 6.0], use_resource=True, trainable=False)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v * frozen
        z = tf.reduce_sum(y * 2.0)
    print([w.name for w in tape.watched_variables()])
    show(lambda: run(tape.gradient(y, v)))
    show(lambda: run(tape.gradient(z, [v, y])))
    show(lambda: tape.gradient(y, frozen) is None)
    with tf.GradientTape() as tape:
        tape.watch(frozen)
        y = v * frozen
    show(lambda: [run(g) for g in tape.gradient(y, [v, frozen])])
    print([w.name for w in tape.watched_variables()])
    with shown(), tf.GradientTape() as tape:
        read = tf.convert_to_tensor(v)
        tape.watch(read)
        y = read * frozen
        show(lambda: run(tape.gradient(y, read)))

with tf.Graph().as_default():
    v = tf.Variable([1.0, 2.0])
    print(type(v).__name__)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v ** 3)
    print(run(tape.gradient(y, v)))
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    print(tape.gradient(y, v))
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = v * v
    print(run(tape.gradient(y, v)))
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = v ** 3
        first = inner.gradient(y, v)
    print(run([first, outer.gradient(first, v)]))
    with tf.GradientTape() as tape:
        y = v.read_value() * tf.gather(v, [0, 0])
    grad = tape.gradient(y, v)
    print(type(grad).__name__, run(tf.convert_to_tensor(grad)))
    with tf.GradientTape() as tape:
        y = tf.gather(v, [1, 1, 0])
    grad = tape.gradient(y, v)
    print(type(grad).__name__, run([grad.values, grad.indices]))
    assign = v.assign(v * 2.0)
    with tf.GradientTape() as tape:
        with tf.control_dependencies([assign]):
            y = v.read_value() ** 2
    print(run(tape.gradient(y, v)))

# Placeholders, and jacobians of shapes known and not known.
with tf.Graph().as_default():
    p = v1.placeholder(tf.float32, [None, 2])
    q = v1.placeholder(tf.float32, [3])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([p, q])
        y = tf.sin(q) * q[0]
        z = p * tf.reduce_sum(p, axis=1, keepdims=True)
    fetches = [
        tape.jacobian(y, q),
        tape.batch_jacobian(z, p),
        tape.jacobian(y, q, experimental_use_pfor=False),
        tape.batch_jacobian(z, p, experimental_use_pfor=False),
        tape.jacobian(z, p),
    ]
    print([t.shape for t in fetches])
    for value in run(fetches, {p: [[1.0, 2.0], [3.0, 4.0]], q: [0.0, 1.0, 2.0]}):
        print(value.round(4).tolist())
    print(tape.jacobian(y, p), tape.jacobian(y, p, unconnected_gradients="zero") is not None)

# A variable's jacobian.
with tf.Graph().as_default():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = v * v * tf.constant([1.0, 10.0])
    print(run([tape.jacobian(y, v), tape.jacobian(y, v, experimental_use_pfor=False)]))

# Functions that are called in such a graph, with tapes in and around them.
@tf.function
def cubes(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x ** 3
    return y, tape.gradient(y, x)


with tf.Graph().as_default():
    x = tf.constant([1.0, 2.0])
    v = tf.Variable([3.0, 4.0])

    @tf.function
    def of_variable(x):
        return x * v

    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, dy = cubes(x)
        z = of_variable(x)
    print(run([tape.gradient(y, x), tape.gradient(dy, x), *tape.gradient(z, [x, v])]))

# Control flow of both versions.
with tf.Graph().as_default():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cond(x > 0, lambda: x * x, lambda: x)
    print(run(tape.gradient(y, x)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, 1.0])[1]
    print(run(tape.gradient(y, x)))

# Training.
with tf.Graph().as_default():
    w = v1.get_variable("w", initializer=0.0)
    with tf.GradientTape() as tape:
        loss = (w - 3.0) ** 2
    step = v1.train.GradientDescentOptimizer(0.1).apply_gradients([(tape.gradient(loss, w), w)])
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        for _ in range(3):
            s.run(step)
        print(s.run(w))
    with tf.GradientTape() as tape:
        y = w * 2.0
    with shown():
        tape.gradient(y, w)
        tape.gradient(y, w)
