"""Variables with unknown shape or from functions; constraint; initial_value; to_proto-free attributes."""
import numpy as np
import tensorflow as tf

v = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))
print(v.shape, v)
v.assign([[3.0, 4.0, 5.0]])
print(v.shape, v.numpy().shape, tf.shape(v))
u = tf.Variable([[1, 2]], shape=[None, 2])
print(u)
u.assign([[1, 2], [3, 4]])
print(u.numpy(), u.shape)
try:
    u.assign([[1, 2, 3]])
except ValueError as e:
    print(e)

lazy = tf.Variable(lambda: tf.ones([2, 2]) * 3, name="lazy")
print(lazy.numpy(), lazy.name)
clipped = tf.Variable([1.0, 5.0], constraint=lambda x: tf.clip_by_value(x, 0.0, 2.0))
print(clipped.constraint(clipped))
print(tf.Variable(np.arange(4).reshape(2, 2)).dtype, tf.Variable(True), tf.Variable(b"bytes"))
print(tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ,
                  aggregation=tf.VariableAggregation.SUM).aggregation)
print(tf.Variable(2).synchronization, tf.VariableAggregation.MEAN, tf.VariableSynchronization.AUTO)
print(u.get_shape(), u.shape.rank, v.trainable)

for bad in (lambda: tf.Variable(), lambda: tf.Variable(None), lambda: tf.Variable([1, [2, 3]]),
            lambda: tf.Variable(1.5, dtype=tf.int32), lambda: tf.Variable([1.0], shape=[2])):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)

with tf.name_scope("outer"):
    with tf.name_scope("inner"):
        print(tf.Variable(0.0, name="scoped").name)
    print(tf.Variable(0.0).name)

print([x.numpy() for x in tf.Variable([1, 2, 3])], list(map(int, tf.unstack(tf.Variable([4, 5])))))
print(float(tf.Variable(2.5)), int(tf.Variable(7)), bool(tf.Variable(0)), np.sum(tf.Variable([1.0, 2.0])))
a = tf.Variable(1.0)
a.assign(a + 1).assign_add(3.0).assign_sub(0.5)
print(a.numpy(), a.ref() == a.ref())
