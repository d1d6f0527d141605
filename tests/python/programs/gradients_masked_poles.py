import tensorflow as tf
nan=float('nan'); inf=float('inf')
y = tf.constant([nan, inf, -inf, 0.0, 1.0, -1.0, nan, inf, 0.0])
d = tf.constant([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
for op in ("SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"):
    f = getattr(tf.raw_ops, op)
    print(op, f(y=y, dy=d).numpy(), f(y=tf.cast(y, tf.float64), dy=tf.cast(d, tf.float64)).numpy())
    print(op, f(y=tf.cast(y, tf.bfloat16), dy=tf.cast(d, tf.bfloat16)).numpy(), f(y=tf.cast(y, tf.complex64), dy=tf.cast(d, tf.complex64)).numpy()[:6])
x = tf.constant([-1.0, 0.0, 2.0])
for name in "sqrt rsqrt log log1p exp reciprocal tanh acos acosh atanh lgamma erfinv".split():
    f = getattr(tf.math, name)
    with tf.GradientTape() as t:
        t.watch(x)
        z = tf.where(x > 1.5, f(x), 0.0)
    print(name, t.gradient(z, x).numpy())
    print(name, tf.function(lambda x: tf.gradients(tf.where(x > 1.5, f(x) * 2.0, 0.0), x)[0])(x).numpy())
