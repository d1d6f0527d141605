"""Accumulators of gradients, loss scales, proximal optimizers and checks in sessions."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
dense = tf.ConditionalAccumulator(tf.float32, [2])
add = [dense.apply_grad([1.0 * i, 2.0], local_step=0) for i in range(3)]
taken, count = dense.take_grad(3), dense.num_accumulated()
sparse = tf.SparseConditionalAccumulator(tf.float32, [3, 2])
put = [sparse.apply_grad([0, 2], [[1.0, 1.0], [2.0, 2.0]], [3, 2]), sparse.apply_indexed_slices_grad(tf.IndexedSlices([[4.0, 4.0]], [2], [3, 2]))]
got = sparse.take_indexed_slices_grad(2)
total = sparse.num_accumulated()
stale = [dense.set_global_step(5), dense.apply_grad([9.0, 9.0], local_step=1)]
v = tf.get_variable("v", initializer=[1.0, -2.0])
made = {
    "proximal_descent": tf.train.ProximalGradientDescentOptimizer(0.1, 0.2, 0.3),
    "proximal_adagrad": tf.train.ProximalAdagradOptimizer(0.1, 0.1, 0.2, 0.3),
    "adagrad_da": tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step(), 0.1, 0.01, 0.01),
    "scaled": tf.mixed_precision.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), 8.0),
}
steps = {name: o.minimize(tf.reduce_sum(tf.square(v)), tf.train.get_or_create_global_step()) for name, o in made.items()}
scale = tf.mixed_precision.DynamicLossScale(4.0, 2, 2.0)
good, bad = scale.update([tf.constant([1.0])]), scale.update([tf.constant([float("inf")])])
x = tf.placeholder(tf.float32, [None])
checked = tf.assert_positive(x, data=["not positive", x], message="m")
print(dense.name, sparse.name, dense.dtype, [o.get_slot_names() for o in made.values()])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(add)
    print(session.run(count), session.run(taken).tolist(), session.run(count))
    session.run(put)
    print(session.run(total), [np.asarray(p).tolist() for p in session.run(got)])
    for op in stale:
        session.run(op)
    print(session.run(count))
    for name, op in steps.items():
        session.run(op)
        print(name, np.round(session.run(v), 5).tolist())
    for update, apply in (good, good, good, bad, good):
        finite = session.run(apply)
        session.run(update)
        print(finite, session.run(scale()))
    session.run(checked, {x: [1.0]})
    try:
        session.run(checked, {x: [1.0, -1.0]})
    except tf.errors.InvalidArgumentError as e:
        print("not positive" in str(e), "m" in str(e))
