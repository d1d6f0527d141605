"""tf.nondifferentiable_batch_function: rows of calls, sizes that are allowed, captured variables, errors."""
import tensorflow as tf


def show(label, code):
    try:
        print(label, code())
    except (ValueError, AttributeError, LookupError, tf.errors.OpError) as e:
        print(label, type(e).__name__, getattr(e, "message", e))


@tf.nondifferentiable_batch_function(1, 10, 1000)
def add(a, b):
    print("traced", a.shape, b.shape)
    return a + b, {"double": a * 2}


print(add(tf.ones([2, 3]), tf.ones([2, 3])))
print(add(tf.ones([1]), tf.fill([1], 2.0)))


@tf.nondifferentiable_batch_function(2, 10, 1000, allowed_batch_sizes=[4, 10])
def sized(a, text):
    return tf.fill([tf.shape(a)[0]], tf.reduce_sum(a)), tf.strings.join([text, "!"])


@tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None], tf.string)])
def outer(a, text):
    return sized(a, text)


# Two rows are missing to four: they are the first one again.
print(outer(tf.constant([1.0, 2.0]), tf.constant(["x", "y"])))
v = tf.Variable(3.0)


@tf.nondifferentiable_batch_function(1, 4, 1000)
def times(a):
    return a * v


print(times(tf.constant([1.0, 2.0])), times(tf.ones([4])).numpy())
v.assign(5.0)
print(times(tf.constant([1.0, 2.0])).numpy(), tf.function(lambda a: times(a) + 1)(tf.ones([2])).numpy())
show("no rows", lambda: times(tf.constant(1.0)))
show("list", lambda: times([1.0, 2.0]))
show("sizes", lambda: tf.nondifferentiable_batch_function(1, 4, 10, allowed_batch_sizes=[4, 2])(lambda a: a)(tf.ones([1])))
show("scalar", lambda: tf.nondifferentiable_batch_function(1, 4, 10)(lambda a: tf.reduce_sum(a))(tf.ones([2])))
show("short", lambda: tf.nondifferentiable_batch_function(1, 4, 10)(lambda a: a[:1])(tf.ones([2])))
x = tf.ones([2])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = times(x)
show("gradient", lambda: tape.gradient(y, x))
