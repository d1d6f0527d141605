"""Functions that call functions, take functions, return functions' results, share variables; run eagerly."""
import functools
import tensorflow as tf


@tf.function
def square(x):
    print("trace square", x.shape)
    return x * x


@tf.function
def norm2(x):
    print("trace norm2")
    return tf.sqrt(tf.reduce_sum(square(x)))


print(norm2(tf.constant([3.0, 4.0])).numpy())
print(norm2(tf.constant([6.0, 8.0])).numpy(), square(tf.constant([2.0, 3.0])).numpy())
print(square.experimental_get_tracing_count(), norm2.experimental_get_tracing_count())


@tf.function
def apply(f, x):
    return f(x) + 1.0


print(apply(square, tf.constant(3.0)).numpy(), apply(tf.sin, tf.constant(0.0)).numpy(),
      apply(lambda t: t * 5, tf.constant(2.0)).numpy())

partial = tf.function(functools.partial(tf.add, 10))
print(partial(tf.constant(5)).numpy())


def make_multiplier(k):
    @tf.function
    def multiply(x):
        return x * k
    return multiply


print([make_multiplier(k)(tf.constant(3)).numpy() for k in (2, 3)])

x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = norm2(tf.stack([x, x * 2.0]))
print(tape.gradient(y, x).numpy())


@tf.function
def value_and_grad(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


print(value_and_grad(square, tf.constant(5.0)))


@tf.function
def second(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, g = value_and_grad(f, x)
    return tape.gradient(g, x)


print(second(lambda t: t**3, tf.constant(2.0)).numpy())


@tf.function
def get_MSE(y_true, y_pred):
    print("Calculating MSE!")
    return tf.reduce_mean(tf.pow(y_true - y_pred, 2))


y_true, y_pred = tf.constant([1, 5, 3, 7, 2]), tf.constant([2, 5, 0, 9, 1])
get_MSE(y_true, y_pred)
get_MSE(y_true, y_pred)
tf.config.run_functions_eagerly(True)
print(tf.config.functions_run_eagerly())
get_MSE(y_true, y_pred)
print(get_MSE(y_true, y_pred))
tf.config.run_functions_eagerly(False)
print(get_MSE(y_true, y_pred), tf.config.functions_run_eagerly())
