"""Composite tensors as arguments and results of functions: specs, retracing, structures, relaxation."""
import tensorflow as tf


@tf.function
def lengths(r):
    print("tracing", r.shape)
    return r.row_lengths()


print(lengths(tf.ragged.constant([[1], [2, 3]])), lengths(tf.ragged.constant([[1, 1], [3]])),
      lengths(tf.ragged.constant([[1]])))
print(lengths.experimental_get_tracing_count())


@tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32),
                              tf.SparseTensorSpec([None, 2], tf.float32)])
def both(r, s):
    print("tracing", r.shape, s.shape)
    return {"r": r * 2.0, "s": tf.sparse.reduce_sum(s), "n": r.nrows()}


result = both(tf.ragged.constant([[1.0, 2.0], []]), tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]]))
print(result["r"], result["s"], result["n"])
print(both(tf.ragged.constant([[5.0]]), tf.sparse.from_dense([[1.0, 1.0]]))["r"], both.experimental_get_tracing_count())


@tf.function
def sparse_out(d):
    return tf.sparse.from_dense(d), tf.RaggedTensor.from_tensor(d, padding=0), tf.IndexedSlices(d,
        tf.range(tf.shape(d)[0]))


s, r, i = sparse_out(tf.constant([[1, 0], [2, 3]]))
print(type(s).__name__, s.values.numpy(), r, type(i).__name__, i.indices.numpy())
cf = sparse_out.get_concrete_function(tf.TensorSpec([None, 2], tf.int32))
print(cf.structured_outputs[1].shape, cf(tf.constant([[7, 0]]))[1])


@tf.function
def loop(r):
    total = 0
    for row in r:
        total += tf.reduce_sum(row)
    return total


print(loop(tf.ragged.constant([[1, 2], [3], []])).numpy())


@tf.function
def branch(p, r):
    return tf.cond(p, lambda: r + 1, lambda: r * 0)


print(branch(tf.constant(True), tf.ragged.constant([[1], [2, 3]])),
      branch(tf.constant(False), tf.ragged.constant([[1], [2, 3]])))


@tf.function
def dataset_total(ds):
    return ds.reduce(tf.constant(0, tf.int64), lambda a, r: a + tf.reduce_sum(r))


print(dataset_total(tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3]], dtype=tf.int64))).numpy())
v = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    out = tf.function(lambda t: tf.RaggedTensor.from_row_splits(t, [0, 2, 3]))(v)
    y = tf.reduce_sum(out * out)
print(out, tape.gradient(y, v))
