"""Tapes, custom gradients and what they refuse, part 1."""

import tensorflow as tf
from calls import show, shown

x = tf.Variable(3.0)
with tf.GradientTape() as t:
    y = x * x
show(lambda: t.gradient(y, x))
show(lambda: t.gradient(y, x))
with tf.GradientTape(persistent=True) as t:
    y = x * x
    z = y * y
show(lambda: t.gradient(z, [x, y]))
show(lambda: t.gradient(z, {"a": x}))
show(lambda: t.gradient(z, (x, [y])))
show(lambda: t.gradient([y, z], x))
show(lambda: t.gradient({"a": y, "b": z}, x))
show(lambda: t.gradient(y, None))
show(lambda: t.gradient(None, x))
show(lambda: t.gradient(y, 3.0))
show(lambda: t.gradient(y, "a"))
show(lambda: t.gradient(3.0, x))
show(lambda: t.gradient(y, tf.constant(1.0)))
show(lambda: t.gradient(y, tf.constant(1.0), unconnected_gradients="zero"))
show(lambda: t.gradient(y, tf.constant(1.0), unconnected_gradients=tf.UnconnectedGradients.ZERO))
show(lambda: t.gradient(y, x, unconnected_gradients="foo"))
show(lambda: t.gradient(y, x, output_gradients=2.0))
show(lambda: t.gradient(y, x, output_gradients=[2.0]))
show(lambda: t.jacobian(y, x))
show(lambda: t.jacobian([y], x))
show(lambda: t.batch_jacobian(y, x))
show(lambda: t.watched_variables())
show(lambda: t)
show(lambda: t.reset())
show(lambda: t.watch("a"))
show(lambda: t.watch(None))
show(lambda: t.watch(3))
show(lambda: t.watch(tf.constant(1)))
with shown():
    with t:
        with t:
            pass
with shown():
    with t.stop_recording():
        pass
show(lambda: t.stop_recording())
with tf.GradientTape(watch_accessed_variables=False) as t:
    y = x * x
show(lambda: print(t.gradient(y, x)))
