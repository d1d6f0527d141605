"""Ways to update a variable: assign with options, slices, scatter methods, sparse updates."""
import tensorflow as tf

v = tf.Variable(tf.reshape(tf.range(12.0), [4, 3]), name="table")
print(v.assign(v * 2))
v[0].assign([1.0, 1.0, 1.0])
v[1, 1].assign(-5.0)
v[2:, 0].assign([7.0, 8.0])
print(v.numpy())
v[:, 2].assign(v[:, 2] + 1.0)
v[3, ::2].assign([-1.0, -2.0])
print(v.numpy())
print(v.assign([[0.0] * 3] * 4, read_value=False))
print(v.assign_add(tf.ones_like(v), read_value=True).numpy())

updates = tf.IndexedSlices(tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), tf.constant([0, 2]))
print(v.scatter_add(updates).numpy())
print(v.scatter_sub(updates).numpy())
print(v.scatter_update(updates).numpy())
print(v.scatter_mul(updates).numpy())
print(v.scatter_div(updates).numpy())
print(v.scatter_max(tf.IndexedSlices(tf.constant([[9.0, 0.0, 9.0]]), tf.constant([1]))).numpy())
print(v.scatter_min(tf.IndexedSlices(tf.constant([[2.0, 2.0, 2.0]]), tf.constant([1]))).numpy())
print(v.batch_scatter_update(updates).numpy() if v.shape.rank == 1 else "rank 2")

w = tf.Variable(tf.zeros([6], tf.int32))
print(w.scatter_nd_update([[1], [4]], [10, 40]).numpy())
print(w.scatter_nd_add([[1], [4]], [1, 4]).numpy())
print(w.scatter_nd_sub([[1]], [5]).numpy())
print(w.sparse_read([1, 4]).numpy(), w.gather_nd([[4], [0]]).numpy())
print(tf.gather(w, [4, 1]).numpy())

c = tf.Variable(0)
for i in range(5):
    c.assign_add(i)
print(c, int(c), c.numpy() + 1)
c = c + 1
print(type(c).__name__)

for bad in (lambda: w.assign([1.5] * 6), lambda: w.assign("x"), lambda: w.assign_add([1, 2]),
            lambda: w.assign(tf.zeros([6]))):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, e)
