"""Indexing of ragged tensors by every kind of key, and boolean masks."""

import numpy as np
import tensorflow as tf
from calls import tell

rt = tf.ragged.constant([[1, 2, 3], [], [4, 5]])
deep = tf.ragged.constant([[[1, 2], [3]], [], [[4], [], [5, 6]]])
inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
uniform = tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1, 2], [3], [4], []]), 2)
rows = tf.constant([True, False, True])
cells = tf.ragged.constant([[True, False, True], [], [False, True]])
M = tf.ragged.boolean_mask


@tf.function
def picked(r, i, j):
    return r[i], r[i:j], r[:, i:j], r[i:j, ::-1]


tell(
    """
    rt[rows]
    rt[cells]
    rt[[True, False, True]]
    rt[np.array([True, False, True])]
    rt[rows, 0]
    deep[rows]
    rt[rt > 2]
    rt[tf.constant([0, 1])]
    rt[[0, 1]]
    rt[np.int64(2)]
    rt[np.array(2)]
    rt[tf.constant(2, tf.int64)]
    rt[tf.constant(2, tf.int8)]
    rt[True]
    rt[1.0]
    rt[None]
    rt[..., None]
    rt[:, None]
    rt[:, :, None]
    rt[None, None, 0]
    rt[...]
    rt[..., ...]
    rt[0, ...]
    rt[..., 0]
    rt[..., :1]
    rt[-4]
    rt[3]
    rt[-1, -1]
    rt[0, 3]
    rt[1, 0]
    rt[0, 0, 0]
    rt[5:]
    rt[-2:]
    rt[:-1]
    rt[::2]
    rt[::-2]
    rt[2:0:-1]
    rt[::0]
    rt[0:3:5]
    rt[:, 1:]
    rt[:, :-1]
    rt[:, -1:]
    rt[:, ::-1]
    rt[:, ::2]
    rt[:, -2::-1]
    rt[:, 5:]
    rt[:, 2:0:-1]
    rt[:, ::0]
    rt[:, 0]
    rt[1:, 1:]
    rt[:, tf.constant(1):]
    rt[tf.constant(1):, :tf.constant(1)]
    rt[:, "a":]
    rt["a":]
    rt[1.5:]
    deep[0]
    deep[0, 1]
    deep[0, 1, 0]
    deep[2, 1:]
    deep[2, :, :1]
    deep[:, :1]
    deep[:, :, :1]
    deep[:, 1:, ::-1]
    deep[:, 0]
    deep[:, :, 0]
    deep[..., 1:]
    deep[-1, ..., :1]
    deep[:, None, :1]
    inner[0]
    inner[:, :, 0]
    inner[:, :, 1:]
    inner[..., None]
    inner[:, :1, ::-1]
    inner[:, :, 5]
    inner[..., -1]
    inner[1, 0, 1]
    uniform[0]
    uniform[:, 0]
    uniform[:, -1]
    uniform[:, 2]
    uniform[:, -3]
    uniform[:, 1:]
    uniform[:, 0, :1]
    uniform[:, tf.constant(1)]
    uniform[:, ::-1]
    uniform[1, 0]
    M(rt, cells)
    M(rt, rows)
    M(deep, rows)
    M(deep, tf.ragged.constant([[True, False], [], [True, True, False]]))
    M(deep, deep > 2)
    M([[1, 2], [3, 4]], [[True, False], [False, True]])
    M([[1, 2], [3, 4]], [True, False])
    M([[[1, 2], [3, 4]]], [[True, False]])
    M([1, 2, 3], [True, False, True])
    M(rt, [[True, False, True], [], [False, True]])
    M(rt, tf.ragged.constant([[True], [], [False]]))
    M(rt, [1, 0, 1])
    M(rt, True)
    M(rt, [True, False])
    M(tf.constant(["a", "b"]), [True, False])
    tf.boolean_mask(rt, cells)
    tf.boolean_mask(rt, rows)
    tf.boolean_mask(tf.constant([[1, 2, 3], [4, 5, 6]]), [[True, False, True], [False, True, False]])
    tf.boolean_mask(tf.constant([[1, 2, 3], [4, 5, 6]]), tf.ragged.constant([[True, False, True], [False, True, False]]))
    tf.boolean_mask(rt, rows, axis=0)
    picked(rt, tf.constant(0), tf.constant(2))
    picked(rt, tf.constant(-1), tf.constant(5))
    picked(deep, tf.constant(0), tf.constant(1))
    tf.function(lambda r, m: tf.ragged.boolean_mask(r, m))(rt, cells)
    tf.function(lambda r, m: r[m])(rt, rows)
    rt.__getitem__(slice(1, 2))
    rt.__setitem__(0, 1)
    del rt[0]
    """,
    globals(),
)
