"""Gradients of gather and embedding lookup are IndexedSlices."""
import tensorflow as tf

table = tf.Variable(tf.reshape(tf.range(10.0), [5, 2]))
ids = tf.constant([1, 3, 1])
with tf.GradientTape(persistent=True) as tape:
    rows = tf.gather(table, ids)
    loss = tf.reduce_sum(rows * [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
g = tape.gradient(loss, table)
print(type(g).__name__)
print(g.values)
print(g.indices)
print(g.dense_shape)
print(tf.convert_to_tensor(g))
print(g.shape, g.dtype)

with tf.GradientTape() as tape:
    looked = tf.nn.embedding_lookup(table, ids)
    loss = tf.reduce_mean(looked**2) + 0.1 * tf.reduce_sum(table)
g = tape.gradient(loss, table)
print(type(g).__name__)
print(tf.convert_to_tensor(g))

s = tf.IndexedSlices(values=tf.constant([[1.0, 2.0], [3.0, 4.0]]), indices=tf.constant([0, 2]),
                     dense_shape=tf.constant([4, 2]))
print(tf.convert_to_tensor(s))
print(repr(s.dense_shape), s.values.shape)
print(-s, "\n", (-s).values)
print(tf.scatter_nd(tf.expand_dims(s.indices, 1), s.values, s.dense_shape))
table.scatter_sub(s)
print(table.numpy())
print(tf.math.add_n([tf.convert_to_tensor(s), tf.ones([4, 2])]))
print(tf.nest.flatten(s, expand_composites=True))
spec = tf.type_spec_from_value(s)
print(spec)


@tf.function
def step(ids):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, ids))
    g = tape.gradient(loss, table)
    table.scatter_add(tf.IndexedSlices(-0.1 * g.values, g.indices))
    return loss


print(step(tf.constant([0, 0, 4])).numpy())
print(table.numpy())
