import tensorflow as tf
s = tf.distribute.MirroredStrategy(['/cpu:0'])
with s.scope(): v = tf.Variable(2.)
@tf.function
def f():
    def r(x):
        with tf.GradientTape() as t: y = v*x*x
        g = t.gradient(y, v)
        print('y', repr(y.device), 'g', repr(g.device), 'c', repr(tf.constant(1.).device))
        z = tf.distribute.get_replica_context().all_reduce('sum', [g])
        return z
    return s.run(r, args=(tf.constant(3.),))
print(f())
