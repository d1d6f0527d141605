"""v1 training: tf.gradients, optimisers, losses, decay of learning rates, global steps, minimise, clip, metrics."""
import tensorflow as tf

v1 = tf.compat.v1
xs = [[0.0], [1.0], [2.0], [3.0]]
ys = [[1.0], [3.0], [5.0], [7.0]]


def train(make, steps=15):
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 1])
        y = v1.placeholder(tf.float32, [None, 1])
        w = v1.get_variable("w", [1, 1], initializer=v1.zeros_initializer())
        b = v1.get_variable("b", [1], initializer=v1.zeros_initializer())
        loss = v1.losses.mean_squared_error(y, tf.matmul(x, w) + b)
        step = v1.train.get_or_create_global_step()
        op = make(step).minimize(loss, global_step=step)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            first = sess.run(loss, {x: xs, y: ys})
            for _ in range(steps):
                sess.run(op, {x: xs, y: ys})
            print(first, sess.run([loss, w, b, step], {x: xs, y: ys}), v1.train.global_step(sess, step),
                  v1.train.get_global_step() is step)


train(lambda s: v1.train.GradientDescentOptimizer(0.1))
train(lambda s: v1.train.MomentumOptimizer(0.05, 0.9))
train(lambda s: v1.train.AdamOptimizer(0.1))
train(lambda s: v1.train.AdagradOptimizer(0.5))
train(lambda s: v1.train.RMSPropOptimizer(0.05))
train(lambda s: v1.train.FtrlOptimizer(0.5))
train(lambda s: v1.train.AdadeltaOptimizer(1.0))
train(lambda s: v1.train.GradientDescentOptimizer(v1.train.polynomial_decay(0.1, s, 10, 0.01)))
train(lambda s: v1.train.GradientDescentOptimizer(v1.train.exponential_decay(0.1, s, 5, 0.5, staircase=True)))
train(lambda s: v1.train.GradientDescentOptimizer(v1.train.piecewise_constant(s, [5, 10], [0.1, 0.05, 0.01])))

with tf.Graph().as_default():
    x = tf.constant([2.0, 3.0])
    v = v1.get_variable("v", initializer=[1.0, 4.0])
    y = tf.reduce_sum(x**3 * v**2)
    g = tf.gradients(y, [x, v])
    print([(t.shape, t.dtype) for t in g])
    h = tf.gradients(g[1], v)
    none = tf.gradients(y, tf.constant(1.0))
    zero = tf.gradients(y, tf.constant(1.0), unconnected_gradients="zero")
    opt = v1.train.GradientDescentOptimizer(0.1)
    pairs = opt.compute_gradients(y, [v])
    clipped = [(tf.clip_by_norm(gr, 1.0), var) for gr, var in pairs]
    apply = opt.apply_gradients(clipped)
    hess = tf.hessians(y, x)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        print(sess.run(g), sess.run(h), none, sess.run(zero), sess.run(hess))
        sess.run(apply)
        print(sess.run(v), pairs[0][1] is v, [s.name for s in opt.variables()])
    labels = tf.constant([1, 0, 2])
    logits = tf.constant([[0.1, 2.0, 0.3], [1.0, 0.2, 0.1], [0.3, 0.3, 3.0]])
    losses = [v1.losses.sparse_softmax_cross_entropy(labels, logits),
              v1.losses.softmax_cross_entropy(tf.one_hot(labels, 3), logits, label_smoothing=0.1),
              v1.losses.absolute_difference([1.0], [2.5]),
              v1.losses.huber_loss([1.0, 5.0], [1.5, 1.0]), v1.losses.hinge_loss([1.0, 0.0], [0.3, 0.2]),
              v1.losses.log_loss([1.0], [0.8]), v1.losses.sigmoid_cross_entropy([1.0], [0.5]),
              v1.losses.get_total_loss()]
    acc, update = v1.metrics.accuracy(labels, tf.argmax(logits, 1))
    mse, mse_update = v1.metrics.mean_squared_error([1.0, 2.0], [1.0, 4.0])
    with v1.Session() as sess:
        sess.run([v1.local_variables_initializer(), v1.global_variables_initializer()])
        print(sess.run(losses))
        print(sess.run([update, mse_update]), sess.run([acc, mse]), [x.name for x in v1.local_variables()])
