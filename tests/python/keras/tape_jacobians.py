"""Jacobians and gradients of tapes with Keras variables and composite values as sources and targets."""
import keras
import tensorflow as tf


def shown(name, call):
    try:
        got = call()
        print(name, tf.nest.map_structure(lambda g: None if g is None else (g.shape.as_list(), g.numpy().tolist()), got))
    except (ValueError, TypeError, AttributeError, RuntimeError, ZeroDivisionError, IndexError) as error:
        print(name, type(error).__name__, str(error)[:110])


x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
i = tf.constant([1, 2])
r = tf.ragged.constant([[1.0, 2.0], [3.0]])
k, column = keras.Variable([2.0, 3.0]), keras.Variable([[2.0], [3.0]])
v = tf.Variable([2.0, 3.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch([x, r])
    y = x * k * v
    row = y[0]
    z = x * column
    flat = r.flat_values * 2.0
    w = tf.cast(i, tf.float32) * v
    picked = tf.gather(v, [0, 0])
print([type(q).__name__ for q in tape.watched_variables()], len(tape.watched_variables()))

for pfor in (True, False):
    options = {"experimental_use_pfor": pfor}
    zero = {**options, "unconnected_gradients": "zero"}
    print(pfor)
    shown("one", lambda: tape.jacobian(row, k, **options))
    shown("several", lambda: tape.jacobian(y, [k, v, x], **options))
    shown("structure", lambda: tape.jacobian(row, {"k": k, "v": [v, (x,)]}, **options))
    shown("unconnected", lambda: tape.jacobian(row, [column, k, r.flat_values], **options))
    shown("itself", lambda: tape.jacobian(k, k, **options))
    shown("a variable", lambda: tape.jacobian(v, v, **options))
    shown("slices", lambda: tape.jacobian(picked, [v, k], **options))
    shown("integers", lambda: tape.jacobian(w, [i, v], **options))
    shown("of integers", lambda: tape.jacobian(i, [i, v], **options))
    shown("ragged", lambda: tape.jacobian(flat, r, **options))
    shown("ragged not reached", lambda: tape.jacobian(row, r, **options))
    shown("no sources", lambda: tape.jacobian(row, [], **options))
    shown("batch", lambda: tape.batch_jacobian(y, x, **options))
    shown("batch of a variable", lambda: tape.batch_jacobian(z, column, **options))
    shown("batch not reached", lambda: tape.batch_jacobian(tf.ones([2, 3]), x, **options))
    shown("batch zeros", lambda: tape.batch_jacobian(tf.ones([2, 3]), x, **zero))
    shown("batch rank", lambda: tape.batch_jacobian(y, k, **options))
    shown("batch sizes", lambda: tape.batch_jacobian(y[:1], x, **options))
    shown("batch of nothing", lambda: tape.batch_jacobian(y[:0], x[:0], **options))
    shown("a list", lambda: tape.batch_jacobian([y], x, **options))
    shown("None", lambda: tape.jacobian(None, x, **options))
    shown("option", lambda: tape.jacobian(y, x, unconnected_gradients="q", **options))
shown("parallel", lambda: tape.jacobian(row, k, parallel_iterations=1))
shown("parallel", lambda: tape.jacobian(row, k, parallel_iterations=1, experimental_use_pfor=False))
shown("gradient", lambda: tape.gradient(y, [k, k.value, v]))
shown("gradient of itself", lambda: tape.gradient([k, row], [k]))
with tf.GradientTape() as tape:
    shown("watch", lambda: tape.watch(k))

dense = keras.layers.Dense(2, kernel_initializer="ones")
dense.build((None, 2))


@tf.function
def traced(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = dense(x) ** 2
    return tape.jacobian(y, dense.trainable_variables), tape.batch_jacobian(y, x), tape.gradient(y, dense.kernel)


shown("layer", lambda: traced(x))
for pfor in (True, False):
    with tf.GradientTape() as tape:
        y = dense(x)
    shown("once", lambda: tape.jacobian(y, dense.trainable_variables, experimental_use_pfor=pfor))
    shown("twice", lambda: tape.jacobian(y, dense.trainable_variables, experimental_use_pfor=pfor))
