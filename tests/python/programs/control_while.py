"""tf.while_loop: counters, structures, shape invariants, maximum iterations, ragged state, gradients, nested."""
import collections
import tensorflow as tf

i = tf.constant(0)
print(tf.while_loop(lambda i: tf.less(i, 10), lambda i: (tf.add(i, 1),), [i]))
Pair = collections.namedtuple("Pair", "j, k")
ijk_0 = (tf.constant(0), Pair(tf.constant(1), tf.constant(2)))
print(tf.while_loop(lambda i, p: i < 10, lambda i, p: (i + 1, Pair(p.j + p.k, p.j - p.k)), ijk_0))
print(tf.while_loop(lambda i: True, lambda i: [i * 2], [tf.constant(1)], maximum_iterations=5))


@tf.function
def grow(n):
    i0, m0 = tf.constant(0), tf.ones([2, 2])
    return tf.while_loop(lambda i, m: i < n, lambda i, m: [i + 1, tf.concat([m, m], axis=0)], loop_vars=[i0, m0],
                         shape_invariants=[i0.get_shape(), tf.TensorShape([None, 2])])[1]


print(grow(tf.constant(3)).shape, grow(tf.constant(1)))


@tf.function
def newton(a):
    def body(x, err):
        nx = 0.5 * (x + a / x)
        return nx, tf.abs(nx - x)
    return tf.while_loop(lambda x, err: err > 1e-6, body, (a, tf.constant(1.0)))[0]


for value in (2.0, 9.0):
    v = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(v)
        r = newton(v)
    print(r.numpy(), tape.gradient(r, v).numpy())


@tf.function
def nested(n):
    def outer(i, total):
        _, inner = tf.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + j), (tf.constant(0), tf.constant(0)))
        return i + 1, total + inner
    return tf.while_loop(lambda i, t: i < n, outer, (tf.constant(0), tf.constant(0)))[1]


print(nested(tf.constant(6)).numpy())
w = tf.Variable([[0.5, 0.1], [0.0, 0.9]])


@tf.function
def power_iteration(x, k):
    return tf.while_loop(lambda i, x: i < k, lambda i, x: (i + 1, tf.linalg.matvec(w, x)), (0, x))[1]


x = tf.constant([1.0, 1.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    out = tf.reduce_sum(power_iteration(x, tf.constant(4)))
print(out.numpy(), tape.gradient(out, [x, w]))
with tf.GradientTape() as outer_tape:
    outer_tape.watch(x)
    with tf.GradientTape() as inner_tape:
        inner_tape.watch(x)
        out = tf.reduce_sum(power_iteration(x, tf.constant(2)) ** 3)
    g = inner_tape.gradient(out, x)
print(outer_tape.gradient(g, x))


@tf.function
def with_dict(n):
    state = {"count": tf.constant(0), "history": tf.TensorArray(tf.int32, size=n)}
    out = tf.while_loop(lambda s: s["count"] < n,
                        lambda s: [{"count": s["count"] + 1,
                                    "history": s["history"].write(s["count"], s["count"] * 3)}], [state])
    return out[0]["history"].stack()


print(with_dict(tf.constant(4)))


def report(fn):
    try:
        print(fn())
    except Exception as e:
        print(type(e).__name__)


report(lambda: tf.function(lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 0.5, [tf.constant(0)]))())
report(lambda: tf.function(lambda: tf.while_loop(lambda m: tf.size(m) < 9, lambda m: [tf.concat([m, m], 0)],
                                                 [tf.ones([1])]))())
report(lambda: tf.function(lambda: tf.while_loop(lambda i, j: i < 3, lambda i, j: [i + 1], [0, 0]))())
report(lambda: tf.while_loop(lambda: True, lambda: [], []))
report(lambda: tf.while_loop(5, lambda i: i, [0]))
