"""Jacobians of a tape over a matrix of functions: eagerly, in functions with open sizes, of variables, of gradients."""

import numpy as np
import tensorflow as tf

tf.get_logger().setLevel("ERROR")
rng = np.random.RandomState(1)


def data(*s):
    return tf.constant(rng.uniform(0.2, 1.5, s).astype(np.float32))


x, m, img, k = data(3), data(4, 3), data(2, 5, 5, 2), data(3, 3, 2, 3)
w = data(3, 3)
table = data(5, 3)
v = tf.Variable(data(3))


@tf.function
def fun(a):
    return tf.sin(a) * tf.reduce_sum(a)


@tf.function
def looped(a):
    i = tf.constant(0)
    while i < 3:
        a = a * tf.sin(a) + 1.0
        i += 1
    return a


@tf.function
def branched(a):
    if tf.reduce_sum(a) > 1:
        return a * a
    return a


@tf.custom_gradient
def cg(a):
    def g(dy):
        return dy * 3 * a

    return a * 2, g


fns = {
    "elem": (lambda a: tf.exp(a) * tf.reduce_sum(a), x),
    "matvec": (lambda a: tf.linalg.matvec(w, a), x),
    "outer": (lambda a: a[:, None] * a[None], x),
    "gather": (lambda a: tf.gather(a, [0, 2, 0]) ** 2, x),
    "emb": (lambda a: tf.nn.embedding_lookup(a, [0, 2]) * 2, table),
    "conv": (lambda a: tf.nn.conv2d(a, k, 2, "VALID") ** 2, img),
    "convk": (lambda a: tf.nn.conv2d(img, a, 2, "VALID") ** 2, k),
    "pool": (lambda a: tf.nn.max_pool2d(a, 2, 2, "SAME") + tf.nn.avg_pool2d(a, 2, 2, "SAME"), img),
    "softmax": (lambda a: tf.nn.softmax(a), m),
    "layer": (lambda a: tf.nn.relu(tf.matmul(a, w) + v), m),
    "fun": (fun, x),
    "loop": (looped, x),
    "branch": (branched, x),
    "custom": (lambda a: cg(a) * a, x),
    "slice": (lambda a: a[1:] * a[:-1], x),
    "cumsum": (lambda a: tf.cumsum(a**2), x),
    "concat": (lambda a: tf.concat([a, a**2], 0), x),
    "chol": (lambda a: tf.linalg.cholesky(tf.linalg.diag(a) + 0.1), x),
    "inv": (lambda a: tf.linalg.inv(tf.linalg.diag(a) + 0.1), x),
    "norm": (lambda a: a / tf.norm(a), x),
    "where": (lambda a: tf.where(a > 0.7, a**2, a), x),
    "einsum": (lambda a: tf.einsum("i,ij->j", a, w), x),
    "sort": (lambda a: tf.sort(a) ** 2, x),
    "prod": (lambda a: tf.math.cumprod(a), x),
    "seg": (lambda a: tf.math.unsorted_segment_sum(a, [0, 1, 0], 2), x),
}


def show(n, t):
    for g in tf.nest.flatten(t):
        g = g.numpy()
        print(n, g.shape, *[f"{float(q) + 0:.6g}" for q in g.reshape(-1)[:24]])


for n, (f, a) in fns.items():
    with tf.GradientTape(persistent=True) as t:
        t.watch(a)
        y = f(a)
    show(n, t.jacobian(y, a))

    @tf.function(
        input_signature=[tf.TensorSpec([None] * a.shape.rank if n not in ("conv", "convk", "pool") else a.shape)]
    )
    def jg(a):
        with tf.GradientTape() as t:
            t.watch(a)
            y = f(a)
        return t.jacobian(y, a)

    show("  in a function", jg(a))
for n in ("softmax", "layer"):
    f, a = fns[n]
    with tf.GradientTape() as t:
        t.watch(a)
        y = f(a)
    show(n, t.batch_jacobian(y, a))
with tf.GradientTape() as t:
    y = fns["layer"][0](m)
show("var", t.jacobian(y, v))
# hessian
with tf.GradientTape() as t2:
    t2.watch(x)
    with tf.GradientTape() as t1:
        t1.watch(x)
        y = tf.reduce_sum(tf.sin(x) * x**2)
    g = t1.gradient(y, x)
show("hess", t2.jacobian(g, x))
with tf.GradientTape() as t2:
    t2.watch(x)
    with tf.GradientTape() as t1:
        t1.watch(x)
        y = tf.reduce_sum(looped(x))
    g = t1.gradient(y, x)
show("hess loop", t2.jacobian(g, x))
