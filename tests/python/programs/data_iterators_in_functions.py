"""Datasets and iterators as arguments of functions; loops over datasets; get_next; break; OwnedIterator; training."""
import tensorflow as tf


@tf.function
def sum_all(ds):
    total = tf.constant(0, tf.int64)
    for x in ds:
        total += x
    return total


print(sum_all(tf.data.Dataset.range(5)).numpy(), sum_all(tf.data.Dataset.range(7)).numpy(),
      sum_all.experimental_get_tracing_count())


@tf.function
def first_big(ds, limit):
    found = tf.constant(-1, tf.int64)
    for x in ds:
        if x > limit:
            found = x
            break
    return found


print(first_big(tf.data.Dataset.range(100).map(lambda x: x * x), 50).numpy())


@tf.function
def two_next(iterator):
    return iterator.get_next() + next(iterator)


it = iter(tf.data.Dataset.range(10))
print(two_next(it).numpy(), two_next(it).numpy(), next(it).numpy(), it.element_spec)


@tf.function
def drain(iterator):
    n = 0
    for x in iterator:
        n += 1
    return n


print(drain(it).numpy())


@tf.function
def try_next(iterator):
    optional = iterator.get_next_as_optional()
    result = tf.constant(-1, tf.int64)
    if optional.has_value():
        result = optional.get_value()
    return result


it = iter(tf.data.Dataset.range(2))
print(try_next(it).numpy(), try_next(it).numpy(), try_next(it).numpy())

w = tf.Variable([0.0, 0.0])


@tf.function
def epoch(ds):
    loss = 0.0
    for x, y in ds:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


xs = tf.constant([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, -1.0]])
ds = tf.data.Dataset.from_tensor_slices((xs, tf.linalg.matvec(xs, [3.0, -2.0]))).batch(2)
for i in range(4):
    print(i, epoch(ds).numpy(), w.numpy())


@tf.function
def inside():
    ds = tf.data.Dataset.range(6).batch(2)
    out = tf.TensorArray(tf.int64, size=3)
    for i, b in ds.enumerate():
        out = out.write(tf.cast(i, tf.int32), tf.reduce_sum(b))
    return out.stack()


print(inside())


@tf.function
def reduce_in_function(n):
    return tf.data.Dataset.range(n).reduce(np_zero, lambda s, x: s + x)


np_zero = tf.constant(0, tf.int64)
print(reduce_in_function(tf.constant(10, tf.int64)).numpy())
spec = tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
print(spec, tf.type_spec_from_value(tf.data.Dataset.range(3)))
for i, x in enumerate(tf.data.Dataset.range(100)):
    if i == 3:
        break
print(x.numpy())
