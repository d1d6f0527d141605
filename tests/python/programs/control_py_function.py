"""py_function and numpy_function: eager code in graphs, types, several results, gradients, state, errors."""
import numpy as np
import tensorflow as tf

print(tf.py_function(lambda x: x + 1, [tf.constant([1, 2])], tf.int32),
      tf.numpy_function(lambda a, b: a * b, [3.0, 4.0], tf.float32))


def log_huber(x, m):
    if tf.abs(x) <= m:
        return x**2
    return m**2 * (1 - 2 * tf.math.log(m) + tf.math.log(x**2))


@tf.function
def huber(x, m):
    return tf.py_function(func=log_huber, inp=[x, m], Tout=tf.float32)


x = tf.constant(1.0)
m = tf.constant(2.0)
for value in (1.0, 5.0):
    x = tf.constant(value)
    with tf.GradientTape() as t:
        t.watch([x, m])
        y = huber(x, m)
    print(y.numpy(), [g.numpy() for g in t.gradient(y, [x, m])])

seen = []


@tf.function
def spy(x):
    tf.py_function(lambda v: seen.append(v.numpy().tolist()), [x], [])
    return x * 2


spy(tf.constant([1, 2]))
spy(tf.constant([3, 4]))
print(seen)


def stats(a):
    return np.min(a), np.max(a), np.array([len(a)], np.int64)


@tf.function
def three(x):
    lo, hi, n = tf.numpy_function(stats, [x], [tf.float32, tf.float32, tf.int64])
    n.set_shape([1])
    print(lo.shape, hi.dtype, n.shape)
    return lo, hi, n


print(three(tf.constant([3.0, 1.0, 2.0])))
print(tf.numpy_function(lambda s: s.item().upper(), [tf.constant("abc")], tf.string),
      tf.numpy_function(lambda: np.float64(3), [], tf.float64))
print(tf.py_function(lambda r: r.shape[0], [tf.zeros([7, 2])], tf.int32), tf.py_function(lambda: None, [], []))
ds = tf.data.Dataset.range(3).map(lambda i: tf.numpy_function(lambda k: np.int64(k * 100), [i], tf.int64))
print(list(ds.as_numpy_iterator()), ds.element_spec)
v = tf.Variable(1.0)


def bump():
    v.assign_add(1.0)
    return v.numpy()


@tf.function
def twice():
    a = tf.py_function(bump, [], tf.float32)
    b = tf.py_function(bump, [], tf.float32)
    return a, b


print([t.numpy() for t in twice()], v.numpy())


def fail(x):
    raise ValueError("no luck")


for f in (lambda: tf.py_function(fail, [1], tf.int32), lambda: tf.numpy_function(fail, [1], tf.int32),
          lambda: tf.function(lambda: tf.py_function(fail, [1], tf.int32))(),
          lambda: tf.numpy_function(lambda: np.float32(1), [], tf.int32),
          lambda: tf.numpy_function(lambda: (1, 2), [], tf.int64)):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, "no luck" in str(e))
