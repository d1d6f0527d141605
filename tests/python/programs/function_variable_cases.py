"""Variables as arguments: keywords, freed ones, gradients, SavedModels, graphs of version 1, strategies."""

import gc
import os
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()


def attempt(what, function):
    try:
        print(what, function())
    except Exception as error:
        print(what, type(error).__name__, str(error).split('\n')[0][:120])


@tf.function
def f(a, b=None, **kw):
    print('trace', sorted(kw))
    r = a.assign_add(1.0) if b is None else a.assign_add(b)
    for k in sorted(kw):
        r = r + kw[k]
    return r.read_value() if hasattr(r, 'read_value') else r


x, y, z = (tf.Variable(float(i)) for i in (1, 2, 3))
attempt('kw', lambda: f(a=x, b=y).numpy())
attempt('kw', lambda: f(b=y, a=x).numpy())
attempt('kw', lambda: f(x, z=z, y=y).numpy())
attempt('kw', lambda: f(x, y=y, z=z).numpy())
attempt('same kw', lambda: f(x, y=y, z=y).numpy())
print(x.numpy(), y.numpy(), z.numpy())


def once(i):
    v = tf.Variable(float(i))
    r = f(v).numpy()
    return r


print([once(i) for i in range(4)], f.experimental_get_tracing_count())
gc.collect()
print([once(i) for i in range(3)])


@tf.function
def g(a, b):
    return a * b


with tf.GradientTape() as t:
    r = g(x, x)
print(t.gradient(r, x).numpy())
with tf.GradientTape() as t:
    r = g(x, y)
print([q.numpy() for q in t.gradient(r, [x, y])])
with tf.GradientTape(persistent=True) as t:
    with tf.GradientTape() as t2:
        r = g(x, x) * g(x, y)
    d = t2.gradient(r, x)
print(d.numpy(), t.gradient(d, x).numpy())


class M(tf.Module):

    def __init__(self):
        super().__init__()
        self.v = tf.Variable(5.0)

    @tf.function
    def scale(self, w, x):
        return w * x

    @tf.function(input_signature=[tf.TensorSpec([])])
    def run(self, x):
        return self.scale(self.v, x)


m = M()
print(m.run(2.0).numpy())
tf.saved_model.save(m, folder + '/m')
l = tf.saved_model.load(folder + '/m')
l.v.assign(7.0)
print(l.run(tf.constant(2.0)).numpy())


class Series:

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0], np.float32)


@tf.function
def k(v):
    print(type(v).__name__, v.shape, v.dtype)
    return v * 2.0


attempt('array', lambda: k(Series()).numpy())
attempt('array', lambda: k(Series()).numpy())
print(k.experimental_get_tracing_count())


@tf.function
def outer(n):
    s = 0.0
    for i in tf.range(n):
        s = g(x, y) + s
    return s


print(outer(tf.constant(3)).numpy())
import collections
P = collections.namedtuple('P', 'a b')


@tf.function
def h(p, d=(x,)):
    print('h', p.a is x, p.b is x, d[0] is x)
    return p.a + p.b + d[0]


print(h(P(x, y)).numpy(), h(P(y, x)).numpy(), h(P(x, x)).numpy(), h.experimental_get_tracing_count())
c = g.get_concrete_function(x, y)
attempt('c', lambda: c(y, z).numpy())
attempt('c same', lambda: c(y, y).numpy())
attempt('c tensor', lambda: c(1.0, 2.0))
attempt('c shape', lambda: c(tf.Variable([1.0, 2.0]), y))
attempt('dtype', lambda: g(tf.Variable(1), tf.Variable(2)).numpy())
attempt('spec', lambda: [t.name for t in g.get_concrete_function(tf.__internal__ and x._type_spec if False else x, x).inputs])
with tf.Graph().as_default():
    gv = tf.Variable(3.0)

    @tf.function
    def q(v):
        return v * 2.0
    out = q(gv)
    with tf.compat.v1.Session() as s:
        s.run(gv.initializer)
        print(s.run(out))


@tf.function(reduce_retracing=True)
def rr(v):
    return tf.reduce_sum(v)


for n in (1, 2, 3):
    print(rr(tf.Variable(tf.ones([n]))).numpy(), rr.experimental_get_tracing_count())
st = tf.distribute.MirroredStrategy(['/cpu:0'])
with st.scope():
    dv = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)


@tf.function
def dd(v):
    print('dist', v is dv, type(v).__name__)
    return v.assign_add(2.0)


attempt('dist', lambda: dd(dv).numpy())
attempt('dist', lambda: dd(dv).numpy())
