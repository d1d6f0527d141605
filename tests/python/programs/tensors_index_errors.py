"""What happens with wrong indices: class and text of the error."""
import tensorflow as tf

t = tf.reshape(tf.range(12), [3, 4])


def attempt(label, fn):
    try:
        print(label, "->", fn())
    except Exception as e:
        print(label, "->", type(e).__name__, e)


attempt("t[3]", lambda: t[3])
attempt("t[-4]", lambda: t[-4])
attempt("t[0, 4]", lambda: t[0, 4])
attempt("t[0, 0, 0]", lambda: t[0, 0, 0])
attempt("t[1.5]", lambda: t[1.5])
attempt("t['a']", lambda: t["a"])
attempt("t[..., ...]", lambda: t[..., ...])
attempt("t[::0]", lambda: t[::0])
attempt("t[tf.constant(1.0)]", lambda: t[tf.constant(1.0)])
attempt("scalar[0]", lambda: tf.constant(5)[0])
attempt("len(scalar)", lambda: len(tf.constant(5)))
attempt("iterate scalar", lambda: list(tf.constant(5)))


def assign():
    t[0, 0] = 1


attempt("assign", assign)
attempt("tf.gather", lambda: tf.gather(t, 5))
attempt("tf.slice", lambda: tf.slice(t, [0, 0], [5, 1]))
attempt("hash", lambda: hash(tf.constant(1)))
attempt("in", lambda: 1 in tf.constant([1, 2]))
attempt("bool", lambda: bool(tf.constant([1, 2])))
attempt("attribute", lambda: t.nothing)
