"""map_fn over sparse and ragged elements whose number is known only when the graph runs."""

import tensorflow as tf


def said(f):
    try:
        return f()
    except Exception as e:
        return f"{type(e).__name__}: {str(e).splitlines()[0]}"


st = tf.sparse.from_dense([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
rt = tf.ragged.constant([[1.0], [], [2.0, 3.0]])
dense = tf.constant([[1.0, 2.0, 3.0]] * 3)
for rows in (3, None):
    signature = tf.SparseTensorSpec([rows, 3], tf.float32)

    @tf.function(input_signature=[signature])
    def total(x):
        return tf.map_fn(tf.sparse.reduce_sum, x, fn_output_signature=tf.float32)

    print(rows, total(st).numpy(), total.get_concrete_function().output_shapes)

    @tf.function(input_signature=[signature])
    def doubled(x):
        return tf.map_fn(lambda row: tf.sparse.map_values(tf.multiply, row, 2.0), x)

    out = doubled(st)
    print(type(out).__name__, out.shape, tf.sparse.to_dense(out).numpy().tolist())

    @tf.function(input_signature=[signature, tf.TensorSpec([rows, 3])])
    def paired(x, y):
        return tf.map_fn(lambda p: tf.sparse.reduce_sum(p[0] * p[1]), (x, y), fn_output_signature=tf.float32)

    print(paired(st, dense).numpy())

    @tf.function(input_signature=[signature])
    def to_ragged(x):
        return tf.map_fn(
            lambda row: row.values, x, fn_output_signature=tf.RaggedTensorSpec([None], tf.float32, ragged_rank=0)
        )

    print(to_ragged(st))

    @tf.function(input_signature=[tf.RaggedTensorSpec([rows, None], tf.float32)])
    def ragged_sum(x):
        return tf.map_fn(tf.reduce_sum, x, fn_output_signature=tf.float32)

    print(ragged_sum(rt).numpy())


@tf.function(input_signature=[tf.SparseTensorSpec([None, None, None], tf.float32), tf.TensorSpec([None, None, None])])
def products(a, b):
    return tf.map_fn(
        lambda p: tf.sparse.sparse_dense_matmul(p[0], p[1]), elems=(a, b), fn_output_signature=tf.float32
    )


a = tf.constant([[[1.0, 0.0], [0.0, 2.0]], [[0.0, 3.0], [0.0, 0.0]]])
b = tf.constant([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
print(products(tf.sparse.from_dense(a), b).numpy().tolist())
empty = tf.sparse.from_dense(tf.zeros([0, 3]))
print(said(lambda: total(empty).numpy()), said(lambda: doubled(empty).dense_shape.numpy()))
values = tf.constant([1.0, 2.0, 3.0])


def gradient():
    with tf.GradientTape() as tape:
        tape.watch(values)
        y = total(tf.SparseTensor(st.indices, values * values, st.dense_shape))
    return tape.gradient(y, values)


print(said(gradient))
