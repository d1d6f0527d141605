"""Sparse tensors, linear algebra and networks, part 1."""

import contextlib
import re

import numpy as np
import tensorflow as tf


def without_addresses(text):
    return re.sub(r" at 0x\w+", "", text)


@contextlib.contextmanager
def shown():
    """Prints the kind and the text of an error."""
    try:
        yield
    except Exception as e:
        print(type(e).__name__ + ":", without_addresses(str(e)))


def show(call):
    with shown():
        value = call()
        if value is not None:
            print(without_addresses(repr(value)))


st = tf.sparse.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
show(lambda: st)
show(lambda: print(st))
show(lambda: st.indices)
show(lambda: st.values)
show(lambda: st.dense_shape)
show(lambda: st.shape)
show(lambda: st.dtype)
show(lambda: st.get_shape())
show(lambda: tf.sparse.SparseTensor([[0]], [1, 2], [3]))
show(lambda: tf.sparse.SparseTensor([[0, 0]], [1], [3]))
show(lambda: tf.sparse.SparseTensor([0], [1], [3]))
show(lambda: tf.sparse.SparseTensor([[0.5]], [1], [3]))
show(lambda: tf.sparse.SparseTensor([[5]], [1], [3]))
show(lambda: tf.sparse.to_dense(tf.sparse.SparseTensor([[5]], [1], [3])))
show(lambda: tf.sparse.to_dense(tf.sparse.SparseTensor([[1], [0]], [1, 2], [3])))
show(lambda: tf.sparse.to_dense(tf.sparse.SparseTensor([[1], [0]], [1, 2], [3]), validate_indices=False))
show(lambda: tf.sparse.to_dense(tf.sparse.SparseTensor([[1], [1]], [1, 2], [3])))
show(lambda: tf.sparse.to_dense(st))
show(lambda: tf.sparse.to_dense(st, default_value=-1))
show(lambda: tf.sparse.from_dense([[0, 1], [2, 0]]))
show(lambda: tf.sparse.from_dense(["a", ""]))
show(lambda: tf.sparse.eye(2))
show(lambda: tf.sparse.eye(2, 3))
show(lambda: st + st)
show(lambda: st + 1)
show(lambda: st * 2)
show(lambda: st / 2)
show(lambda: st * st)
show(lambda: st * tf.ones([3, 4], tf.int32))
show(lambda: st @ st)
show(lambda: st == st)
show(lambda: st[0])
show(lambda: len(st))
show(lambda: bool(st))
show(lambda: iter(st))
show(lambda: hash(st) is not None)
show(lambda: np.array(st))
show(lambda: st.numpy())
show(lambda: tf.sparse.add(st, st))
show(lambda: tf.sparse.add(st, tf.ones([3, 4], tf.int32)))
show(lambda: tf.sparse.add(st, 3))
show(lambda: tf.sparse.concat(0, [st, st]))
show(lambda: tf.sparse.concat(1, [st, st]).dense_shape)
show(lambda: tf.sparse.slice(st, [0, 0], [2, 2]))
show(lambda: tf.sparse.split(st, 2, axis=1))
show(lambda: tf.sparse.reshape(st, [12]))
show(lambda: tf.sparse.reshape(st, [-1, 2]).dense_shape)
show(lambda: tf.sparse.transpose(st))
show(lambda: tf.sparse.reorder(st))
show(lambda: tf.sparse.expand_dims(st, 0).dense_shape)
show(lambda: tf.sparse.concat(5, [st, st]))
show(lambda: tf.sparse.reshape(st, [5]))
show(lambda: tf.sparse.retain(st, [True, False]))
show(lambda: tf.sparse.fill_empty_rows(st, 9))
show(lambda: tf.sparse.reset_shape(st))
show(lambda: tf.sparse.reset_shape(st, [5, 5]).dense_shape)
show(lambda: tf.sparse.reduce_sum(st))
show(lambda: tf.sparse.reduce_sum(st, axis=1))
show(lambda: tf.sparse.reduce_max(st, axis=0))
show(lambda: tf.sparse.reduce_sum(st, axis=1, output_is_sparse=True))
show(lambda: tf.sparse.map_values(tf.square, st))
show(lambda: tf.sparse.softmax(tf.sparse.from_dense([[1.0, 2.0]])))
show(lambda: tf.sparse.to_indicator(st, 4))
show(lambda: tf.sparse.maximum(st, st))
show(lambda: tf.sparse.minimum(st, st))
show(lambda: tf.sparse.retain(st, [True]))
show(lambda: tf.sparse.reset_shape(st, [1, 1]))
show(lambda: tf.sparse.reduce_sum(st, axis=5))
show(lambda: tf.sparse.sparse_dense_matmul(tf.cast(st, tf.float32), tf.ones([4, 2])))
show(lambda: tf.sparse.sparse_dense_matmul(tf.cast(st, tf.float32), tf.ones([3, 2]), adjoint_a=True))
show(lambda: tf.sparse.sparse_dense_matmul(tf.cast(st, tf.float32), tf.ones([3, 2])))
show(lambda: tf.sparse.sparse_dense_matmul(st, tf.ones([4, 2])))
