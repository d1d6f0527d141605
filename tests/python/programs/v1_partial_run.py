"""Version 1: one step in several calls (partial_run), and gradients that stop (stop_gradients)."""
import tensorflow as tf

v1 = tf.compat.v1


def show(label, code):
    try:
        print(label, code())
    except (ValueError, RuntimeError, tf.errors.OpError) as e:
        print(label, type(e).__name__, getattr(e, "message", e))


with tf.Graph().as_default():
    a, b, c = (v1.placeholder(tf.float32, [], name=n) for n in "abc")
    total = a + b
    product = total * c
    with v1.Session() as s:
        handle = s.partial_run_setup([total, product], [a, b, c])
        print(type(handle).__name__)
        first = s.partial_run(handle, total, feed_dict={a: 1, b: 2})
        print(first, s.partial_run(handle, product, feed_dict={c: first}))
        show("over", lambda: s.partial_run(handle, product, feed_dict={c: 1}))
    with v1.Session() as s:
        noise = tf.random.uniform([])
        one, two = noise + a, noise + b
        handle = s.partial_run_setup([one, two], [a, b])
        x = s.partial_run(handle, one, {a: 0})
        print("once", x == s.partial_run(handle, two, {b: 0}))
    v = v1.get_variable("v", [], initializer=v1.zeros_initializer())
    update = v.assign_add(a)
    with tf.control_dependencies([update]):
        after = tf.identity(b) * 2
    with v1.Session() as s:
        s.run(v.initializer)
        handle = s.partial_run_setup([update, {"k": after}], [a, b])
        print(s.partial_run(handle, [update], {a: 5.0}), s.partial_run(handle, {"k": after}, {b: 3.0}), s.run(v))
        handle = s.partial_run_setup(["add:0"], ["a:0", "b:0"])
        print(s.partial_run(handle, "add:0", {"a:0": 1, "b:0": 2}))
        handle = s.partial_run_setup([total, update.op], [a, b])
        show("op", lambda: s.partial_run(handle, [total, update.op], {a: 1, b: 1}))
        print(s.partial_run(handle, [total], {a: 1, b: 1}), s.run(v))
        show("nothing", lambda: s.partial_run_setup([], [a]))
        show("not announced", lambda: s.partial_run(s.partial_run_setup([total], [a]), product, {a: 1}))
    show("closed", lambda: s.partial_run_setup([total], [a]))

    with v1.Session() as s:
        x = tf.constant(3.0)
        y = x * x
        z = y * x
        print(s.run(tf.gradients(z, [x, y], stop_gradients=[y])), s.run(tf.gradients(z, [x, y])))
        print(s.run(tf.gradients(z, x, stop_gradients=y)), tf.gradients(y, x, stop_gradients=[y]), tf.gradients(z, [x], stop_gradients=[z]))
        p, q = tf.split(tf.constant([1.0, 2.0]), 2)
        print([g.tolist() for g in s.run(tf.gradients(p * q, [p, q], stop_gradients=[p]))])
        s.run(v.assign(2.0))
        print(s.run(tf.gradients(v * v * x, [v, x], stop_gradients=[v])))


@tf.function
def f(x):
    y = x * x
    return tf.gradients(y * x, [x, y], stop_gradients=[y])


print([g.numpy() for g in f(tf.constant(3.0))])
