"""v1 control flow in sessions: cond, while_loop, TensorArray, map_fn, control flow v1 and v2."""
import tensorflow as tf

v1 = tf.compat.v1


def build():
    x = v1.placeholder(tf.float32, [], name="x")
    c = tf.cond(x > 0.0, lambda: x * x, lambda: -x)
    n = v1.placeholder(tf.int32, [], name="n")
    i, p = tf.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * x), [tf.constant(0), tf.constant(1.0)])
    m = tf.map_fn(lambda e: e * x, tf.constant([1.0, 2.0, 3.0]))
    ta = tf.TensorArray(tf.float32, size=3, clear_after_read=False).unstack([1.0, 2.0, 3.0])
    s = ta.read(1) + tf.reduce_sum(ta.stack())
    grads = tf.gradients([c, p], x)
    case = v1.case([(x > 10.0, lambda: tf.constant(2)), (x > 0.0, lambda: tf.constant(1))],
                   default=lambda: tf.constant(0))
    sc = tf.scan(lambda a, e: a * x + e, tf.constant([1.0, 1.0, 1.0]))
    return x, n, [c, i, p, m, s, grads, case, sc]


for enable in (v1.enable_control_flow_v2, v1.disable_control_flow_v2):
    enable()
    print(v1.control_flow_v2_enabled())
    with tf.Graph().as_default():
        x, n, fetches = build()
        with v1.Session() as sess:
            for value, count in ((2.0, 5), (-3.0, 2), (20.0, 0)):
                print(sess.run(fetches, {x: value, n: count}))
v1.enable_control_flow_v2()
with tf.Graph().as_default():
    v = v1.get_variable("v", initializer=0.0)

    def body(i):
        with tf.control_dependencies([v1.assign_add(v, tf.cast(i, tf.float32))]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 5, body, [0])
    with tf.control_dependencies(tf.nest.flatten(loop)):
        after = tf.identity(v.read_value())
    branch = tf.cond(tf.constant(True), lambda: v1.assign(v, 100.0), lambda: v1.assign(v, -100.0))
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        print(sess.run([loop, after]))
        print(sess.run(branch), sess.run(v))

    @tf.function
    def inside(a):
        if a > 3:
            return a * 2
        return a

    print(v1.Session().run([inside(tf.constant(5)), inside(tf.constant(1))]))
