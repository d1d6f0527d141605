"""Weak types: what comes of each pair of types in "all" and "safe" mode, and weak tensors in functions, tapes and methods."""
import numpy as np
import tensorflow as tf
import tensorflow.experimental.numpy as tnp

tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all")
strong = [tf.cast(1, t) for t in ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "bfloat16",
                                  "float16", "float32", "float64", "complex64", "complex128")]
weak = [tf.constant(1), tf.constant(1.0), tf.constant(1j), tf.constant(4) / 2]


def label(x):
    return x.dtype.name + ("*" if "Weak" in type(x).__name__ else "")


def table():
    for x in strong + weak:
        row = []
        for y in strong + weak:
            try:
                row.append(label(x * y))
            except TypeError:
                row.append("-")
        print(label(x), row)


table()
tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="safe")
table()
for code in (lambda: strong[0] + strong[4], lambda: strong[6] + 1.5, lambda: tf.add(strong[7], strong[10]),
             lambda: tf.Variable(1).assign(1.5), lambda: tf.constant(strong[10], tf.int32), lambda: weak[0] < 1.5):
    try:
        print(code())
    except TypeError as e:
        print(e)
tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all")
a, b = tf.constant([1, 2]), tf.constant([0.5, 1.5])
print(repr(a), str(b), f"{b[0]}", len(a), bool(a[0]), float(b[1]), list(a), np.array(b), isinstance(a, tf.Tensor), tf.is_tensor(a))
for name in "abs negative square sin exp sqrt reduce_sum reduce_max zeros_like identity".split():
    print(name, label(getattr(tf, name)(b)), label(getattr(tf, name)(tf.constant(b, tf.float16))))
for x in (tf.stack([a, a]), tf.concat([b, b], 0), tf.cast(a, tf.int8), tf.convert_to_tensor(a), a[0], a == b, a < 2, a.T, -a, +a, abs(b), ~a,
          tf.maximum(a, 1), tf.equal(a, 1.0), a.reshape(2, 1), tf.zeros([2]), tf.range(3), tf.matmul([[1, 2]], [[1.0], [2.0]]), b.astype(tf.int64),
          np.float32(2.0) * a, [1, 2] + b, 2 - a, 2**b, tf.constant([1, 2.5]), tf.constant([np.float32(1), 2]), tf.constant(True)):
    print(label(x), x.shape, x.numpy().tolist())
try:
    tf.Variable(1).assign(1.5)
except TypeError as e:
    print(e)
try:
    tf.constant(2**40)
except OverflowError as e:
    print(e)
try:
    tf.less(tf.constant([1, 2], tf.int8), tf.constant([1.0, 2.0], tf.float32))
except (TypeError, tf.errors.InvalidArgumentError) as e:
    print(type(e).__name__)
v = tf.Variable(a)
print(v.dtype, v.assign_add(tf.constant([1, 1], tf.int8)).numpy(), label(v + 1), label(v + 1.5), label(v + b))


@tf.function
def f(x, y):
    z = x * y + 1
    print("tracing", type(x).__name__, x.dtype.name, type(z).__name__, z.dtype.name)
    return z, tf.reduce_sum(x)


for x, y in ((a, b), (a, tf.constant(2, tf.int8)), (tf.constant(3), 2), (b, b)):
    print([label(r) for r in f(x, y)])
c = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(c)
    y = c * c
print(tape.gradient(y, c))
print(tf.nest.flatten(a), tf.nest.flatten(a, expand_composites=True), tf.type_spec_from_value(a))
print(tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="legacy"), tf.constant(1) + tf.constant(1.0), tf.constant(1))
try:
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="some")
except ValueError as e:
    print(e)
