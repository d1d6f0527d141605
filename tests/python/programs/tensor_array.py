"""TensorArray: write, read, stack, concat, split, gather, scatter, unstack, dynamic sizes, loops, gradients, errors."""
import tensorflow as tf

ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
ta = ta.write(0, 10.0)
ta = ta.write(1, 20.0)
ta = ta.write(2, 30.0)
print(ta.read(0), ta.read(1), ta.read(2), ta.stack(), ta.size(), ta.dtype, ta.dynamic_size)
print(tf.TensorArray(tf.int32, 3).unstack([1, 2, 3]).gather([2, 0]),
      tf.TensorArray(tf.int32, 2).unstack([[1, 2], [3, 4]]).concat())
print(tf.TensorArray(tf.int32, 3).scatter([2, 0], [5, 6]).stack())
parts = tf.TensorArray(tf.int32, 2, infer_shape=False).split([1, 2, 3, 4, 5], [2, 3])
print(parts.read(0), parts.read(1))
print(tf.TensorArray(tf.string, 2).write(0, "a").write(1, "b").stack(),
      tf.TensorArray(tf.float32, 2, element_shape=[2]).element_shape)


@tf.function
def fibonacci(n):
    ta = tf.TensorArray(tf.int32, size=n, clear_after_read=False)
    ta = ta.write(0, 0)
    ta = ta.write(1, 1)
    for i in tf.range(2, n):
        ta = ta.write(i, ta.read(i - 1) + ta.read(i - 2))
    return ta.stack()


print(fibonacci(tf.constant(7)))
v = tf.Variable(1)


@tf.function
def f(x):
    ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(x):
        v.assign_add(i)
        ta = ta.write(i, v)
    return ta.stack()


print(f(tf.constant(5)))


@tf.function
def rnn(inputs, w):
    outputs = tf.TensorArray(tf.float32, size=tf.shape(inputs)[0])
    h = tf.zeros([2])
    for t in tf.range(tf.shape(inputs)[0]):
        h = tf.tanh(tf.linalg.matvec(w, h) + inputs[t])
        outputs = outputs.write(t, h)
    return outputs.stack()


x = tf.constant([[0.1, 0.2], [0.3, -0.1], [0.0, 0.5]])
w = tf.Variable([[0.5, -0.2], [0.1, 0.3]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(rnn(x, w) ** 2)
print(y.numpy())
gx, gw = tape.gradient(y, [x, w])
print(gx, gw)
a = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(a)
    ta = tf.TensorArray(tf.float32, 2).unstack(a)
    y = ta.read(0) * 3.0 + ta.read(1) ** 2
print(tape.gradient(y, a))
for bad in (lambda: tf.TensorArray(tf.float32, 2).read(5), lambda: tf.TensorArray(tf.float32, 1).write(3, 1.0),
            lambda: tf.TensorArray(tf.float32, 2).write(0, "a"),
            lambda: tf.TensorArray(tf.float32, 1).write(-1, 1.0)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
short = tf.TensorArray(tf.int32, 2, clear_after_read=True).unstack([1, 2])
short.read(0)
try:
    short.read(0)
except Exception as e:
    print(type(e).__name__, e)
print(tf.TensorArray(tf.int32, 3).unstack([7, 8, 9]).identity().stack())
