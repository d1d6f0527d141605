"""tf.gradients: what it takes for targets and sources, by type, and its options."""
import logging

import tensorflow as tf
from calls import show, shown

v1 = tf.compat.v1


class Printed(logging.Handler):
    def emit(self, record):
        print("warning:", record.getMessage())


logger = tf.get_logger()
for h in list(logger.handlers):
    logger.removeHandler(h)
logger.addHandler(Printed())
logger.setLevel(logging.WARNING)


def run(grads):
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        return [None if g is None else s.run(g).tolist() if not isinstance(g, tf.IndexedSlices)
                else ("slices", *[t.tolist() for t in s.run([g.values, g.indices])]) for g in grads]


def ask(*args, **kwargs):
    with shown():
        print(run(v1.gradients(*args, **kwargs)))


with tf.Graph().as_default():
    f, i = tf.constant([1.0, 2.0], name="f"), tf.constant([1, 2], name="i")
    y = f * f
    c = tf.constant([1j, 2.0])
    for zero in ({}, {"unconnected_gradients": "zero"}, {"unconnected_gradients": tf.UnconnectedGradients.ZERO}):
        print(zero)
        ask(y, f, **zero)
        ask(y, [f, i], **zero)
        ask(y, i, **zero)
        ask(tf.cast(f, tf.int32), f, **zero)
        ask(i * 2, i, **zero)
        ask(i, i, **zero)
        ask(f, f, **zero)
        ask([f, y], [f, y], **zero)
        ask([], f, **zero)
        ask(y, [], **zero)
        ask(y, tf.constant(1.0), **zero)
        ask(tf.cast(i, tf.float32) * f, [i, f], **zero)
        ask(tf.zeros([0]), f, **zero)
        ask(tf.gather(f, [0, 1, 0]), f, **zero)
        ask((y, f), (f,), **zero)
    ask(y, f, unconnected_gradients="other")
    ask(y, f, grad_ys=tf.constant([2.0, 3.0]))
    ask([y, f], f, grad_ys=[tf.constant([2.0, 3.0]), None])
    ask([y, f], f, grad_ys=[tf.constant([2.0, 3.0])])
    ask(y, f, grad_ys=[2.0, 3.0])
    ask(c * c, c)
    ask(c * c, c, grad_ys=tf.constant([1j, 1.0]))
    ask(c * c, c, grad_ys=tf.constant([1.0, 1.0]))
    ask(i, i, grad_ys=tf.constant([1, 2]))
    ask(i, i, grad_ys=tf.constant([1.0, 2.0]))
    ask("text", f)
    ask(y, "text")
    ask(None, f)
    ask(y, None)
    ask(y, f, stop_gradients=[y])
    a = f * 2.0
    b = a * f
    ask(b, [f, a], stop_gradients=[a])
    ask(b, [f, a], stop_gradients=a)
    ask(b, [f, a], stop_gradients=[f, a])
    ask(b, [f], stop_gradients=[])
    for method in (0, 1, 2, v1.AggregationMethod.ADD_N, v1.AggregationMethod.EXPERIMENTAL_TREE, 7):
        ask(f * f + f * a + b, f, aggregation_method=method)
    for gate in (True, False):
        ask(b, [f, a], gate_gradients=gate)
    ask(b, [f, a], colocate_gradients_with_ops=True)
    grads = tf.gradients(b, f, name="mine")
    print(grads[0].op.name.split("/")[0], grads[0].shape, grads[0].dtype)

for resource in (True, False):
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=[1.0, 2.0], use_resource=resource)
        w = v1.get_variable("w", initializer=[3, 4], use_resource=resource)
        ask(v * v, v)
        ask(v * tf.cast(w, tf.float32), [v, w])
        ask(v, v)
        ask(tf.gather(v, [1, 1]), v)
        ask(tf.gather(v, [1, 1]) + v, v)
        ask(v * 2.0, [v], stop_gradients=[v])
        ask(w * 2, w)

with tf.Graph().as_default():
    r = tf.RaggedTensor.from_row_splits(tf.constant([1.0, 2.0, 3.0]), [0, 2, 3])
    s = tf.SparseTensor(tf.constant([[0, 1], [1, 0]], tf.int64), tf.constant([1.0, 2.0]), [2, 2])
    d = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
    with shown():
        g = tf.gradients(r * r, r)
        print(type(g[0]).__name__, run([g[0].flat_values] if isinstance(g[0], tf.RaggedTensor) else g))
    with shown():
        g = tf.gradients(tf.sparse.to_dense(s) * 3.0, s)
        print([type(t).__name__ for t in g])

show(lambda: tf.gradients(tf.constant(1.0), tf.constant(1.0)))
show(lambda: tf.hessians(tf.constant(1.0), tf.constant(1.0)))
with tf.Graph().as_default():
    x = tf.constant([1.0, 2.0])
    with v1.Session() as s:
        print(s.run(tf.hessians(tf.reduce_sum(x ** 3), x)))
        print(s.run(tf.hessians(x ** 3 + x[0] * x[1], [x])))
        m = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        print(s.run(tf.hessians(tf.reduce_sum(m ** 3), m))[0].shape)
        print(s.run(tf.hessians([tf.reduce_sum(x ** 3), tf.reduce_sum(x * m * m)], [x, m])))
        show(lambda: tf.hessians(tf.reduce_sum(x * m), [x]))
        show(lambda: tf.hessians(tf.reduce_sum(x), tf.constant([1.0])))
