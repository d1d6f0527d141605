import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def show(title, call):
    try:
        print(title, call())
    except Exception as e:
        print(title, type(e).__name__, e)


def whole(pair):
    """The Jacobians rounded, since differences have noise."""
    return [[(m.dtype.name, np.rint(m).astype(int).tolist()) for m in side] for side in pair]


complexes = np.array([1 + 2j, 3], np.complex64)
show("square of complex", lambda: whole(tf.test.compute_gradient(lambda x: x * x, [complexes])))
show("conjugate", lambda: whole(tf.test.compute_gradient(tf.math.conj, [complexes])))
show("real part", lambda: whole(tf.test.compute_gradient(tf.math.real, [complexes])))
show("complex of real", lambda: whole(tf.test.compute_gradient(lambda x: tf.complex(x, 2 * x), [[1.0, 2.0]])))
show("rows", lambda: whole(tf.test.compute_gradient(lambda x, y: tf.gather(x, [0]) * y, [np.ones([2, 2]), np.float64(2)])))
show("not connected", lambda: whole(tf.test.compute_gradient(lambda x, y: x + 1, [[1.0], [2.0]])))
show("empty", lambda: whole(tf.test.compute_gradient(lambda x: tf.reduce_sum(x, 1), [np.zeros([0, 2], np.float32)])))
show("integers", lambda: tf.test.compute_gradient(lambda x: x, [1]))
show("no list", lambda: tf.test.compute_gradient(lambda x: x, 1.0))
with tf.Graph().as_default(), v1.Session():
    z = tf.constant([1.0, 2.0])
    c = tf.constant(complexes)
    for name, y, x in (
        ("square", c * c, c),
        ("conjugate", tf.math.conj(c), c),
        ("absolute square", tf.math.real(c * tf.math.conj(c)), c),
        ("complex", tf.complex(z, 2 * z), z),
        ("gathered", tf.gather(z, [1, 1]), z),
    ):
        start = np.ones(x.shape, x.dtype.as_numpy_dtype)
        shapes = x.shape.as_list(), y.shape.as_list()
        show(name, lambda: whole([v1.test.compute_gradient(x, shapes[0], y, shapes[1], x_init_value=start)]))
        show(name, lambda: v1.test.compute_gradient_error(x, shapes[0], y, shapes[1], x_init_value=start) < 1e-2)
    show("in a graph", lambda: whole(tf.test.compute_gradient(lambda x, y: x * y, [[1.0, 2.0], 3.0])))
    show("shapes differ", lambda: v1.test.compute_gradient(z, [2], z * 2, [2], x_init_value=np.ones([3])))
    show("integers", lambda: v1.test.compute_gradient(tf.constant([1]), [1], z * 2, [2]))
