"""Variables used and made inside tf.function: reads in order, writes, the singleton rule, captures."""
import tensorflow as tf

v = tf.Variable(1.0)


@tf.function
def read_write(x):
    before = v.read_value()
    v.assign_add(x)
    middle = v.read_value()
    v.assign(v * 2)
    return before, middle, v.read_value()


print([t.numpy() for t in read_write(tf.constant(2.0))])
print([t.numpy() for t in read_write(tf.constant(2.0))])
print(v.numpy())


@tf.function
def make_each_time(x):
    w = tf.Variable(1.0)
    return x + w


try:
    make_each_time(tf.constant(1.0))
except ValueError as e:
    print(type(e).__name__, str(e).strip().splitlines()[-1].strip())

state = []


@tf.function
def make_once(x):
    if not state:
        state.append(tf.Variable(5.0))
    return state[0].assign_add(x)


print(make_once(tf.constant(1.0)).numpy(), make_once(tf.constant(1.0)).numpy(), state[0].numpy())


@tf.function
def fed(var, x):
    var.assign_add(x)
    return var.read_value()


p, q = tf.Variable(10.0), tf.Variable(20.0)
print(fed(p, 1.0).numpy(), fed(q, 1.0).numpy(), p.numpy(), q.numpy(), fed.experimental_get_tracing_count())


@tf.function
def returns_nothing():
    v.assign(0.0)


print(returns_nothing(), v.numpy())


@tf.function
def loop(n):
    for i in tf.range(n):
        v.assign_add(tf.cast(i, tf.float32))
    return v.value()


print(loop(tf.constant(5)).numpy(), loop(tf.constant(3)).numpy())


@tf.function
def gather_rows(table, ids):
    return tf.gather(table, ids), tf.nn.embedding_lookup(table, ids)


print(gather_rows(tf.Variable([[1.0], [2.0], [3.0]]), tf.constant([2, 0])))
with tf.init_scope():
    print(tf.executing_eagerly())
