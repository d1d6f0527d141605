"""Calls of tf.* for arrays: each line is run by TensorFlow (record_cases.py) and by weft (cases_test.py)."""

import numpy as np


def setup(tf):
    r = np.random.RandomState(1)
    return dict(
        t=tf.reshape(tf.range(12), [3, 4]),
        f=tf.constant(r.randn(3, 4).astype("f")),
        d=tf.constant(r.randn(2, 3, 4)),
        v=tf.constant([3, 1, 2, 1]),
        b=tf.constant([True, False, True]),
        s=tf.constant(["a", "bb", ""]),
        c=tf.constant([1 + 2j, 3 - 1j], tf.complex64),
        u=tf.constant([1, 200, 3], tf.uint8),
        i3=tf.reshape(tf.range(24), [2, 3, 4]),
    )


CASES = """
tf.reshape(t, [2, -1])
tf.reshape(t, [])
tf.reshape(t, [5])
tf.reshape([[1, 2], [3, 4]], (4,))
tf.reshape(t, [tf.constant(2), 6])
tf.shape(t), tf.shape(t, tf.int64), tf.shape(5), tf.shape([[1]])
tf.shape_n([t, v])
tf.size(t), tf.size(d, tf.int64), tf.rank(d), tf.rank(1)
tf.expand_dims(t, 0), tf.expand_dims(t, -1), tf.expand_dims(5, 0)
tf.expand_dims(t, 4)
tf.squeeze(tf.ones([1, 2, 1])), tf.squeeze(tf.ones([1, 2, 1]), 0), tf.squeeze(tf.ones([1, 2, 1]), [0, 2]), tf.squeeze(tf.ones([1, 2, 1]), -1)
tf.squeeze(t, 0)
tf.concat([t, t], 0), tf.concat([t, t], -1), tf.concat([t], 0), tf.concat([[1, 2], [3]], 0), tf.concat(([[1, 2]], [[3, 4]]), axis=tf.constant(0))
tf.concat([t, v], 0)
tf.concat([t, f], 0)
tf.stack([v, v]), tf.stack([v, v], axis=1), tf.stack([1, 2.5]), tf.stack([tf.constant(1), 2]), tf.stack([v, v], -1), tf.stack(np.ones((2, 2)))
tf.stack([v, v], 3)
tf.stack([v, t])
tf.unstack(t), tf.unstack(t, axis=1), tf.unstack(t, num=3), tf.unstack(t, axis=-1)
tf.unstack(t, axis=5)
tf.split(t, 2, axis=1), tf.split(t, [1, 3], 1), tf.split(t, [1, -1], axis=-1), tf.split(v, 4), tf.split(t, tf.constant([1, 2]))
tf.split(t, 5)
tf.tile(v, [2]), tf.tile(t, [1, 2]), tf.tile([[1], [2]], tf.constant([2, 2]))
tf.repeat([1, 2], 2), tf.repeat(t, 2, axis=0), tf.repeat(t, [1, 0, 2], axis=0), tf.repeat(t, [2, 1, 1, 0], axis=-1), tf.repeat([[1, 2]], repeats=3), tf.repeat(t, [3], axis=1)
tf.pad(t, [[1, 1], [0, 2]]), tf.pad(t, [[1, 0], [0, 1]], constant_values=9), tf.pad(t, [[1, 1], [2, 2]], "REFLECT"), tf.pad(t, [[1, 1], [2, 2]], "symmetric"), tf.pad(f, [[0, 0], [1, 1]], constant_values=-1.5)
tf.pad(t, [[1, 1], [2, 2]], "foo")
tf.reverse(t, [0]), tf.reverse(t, [-1]), tf.reverse(t, [0, 1])
tf.roll(v, 1, 0), tf.roll(t, [1, 2], [0, 1]), tf.roll(t, shift=-1, axis=1)
tf.transpose(t), tf.transpose(d), tf.transpose(d, [1, 0, 2]), tf.transpose(c[None], conjugate=True), tf.transpose(5)
tf.transpose(t, [0, 0])
tf.gather(v, [0, 3]), tf.gather(t, 1), tf.gather(t, [[0, 2]], axis=1), tf.gather(t, [[0, 1], [2, 3], [0, 0]], axis=1, batch_dims=1), tf.gather(t, tf.constant([2, 0], tf.int64)), tf.gather(t, [1], axis=-1), tf.gather(d, [[2], [0]], batch_dims=1), tf.gather(s, [1, 0])
tf.gather(t, [7])
tf.gather_nd(t, [[0, 1], [2, 3]]), tf.gather_nd(t, [[1]]), tf.gather_nd(d, [[[1, 1]], [[2, 0]]], batch_dims=1), tf.gather_nd(d, [[[2], [0], [1]], [[3], [3], [3]]], batch_dims=2), tf.gather_nd(t, [])
tf.gather_nd(t, [[5, 5]])
tf.scatter_nd([[1], [3]], [9, 8], [5]), tf.scatter_nd([[0, 1], [0, 1]], [1.0, 2.0], [2, 2]), tf.scatter_nd([[0]], [[1, 2]], tf.constant([2, 2]))
tf.tensor_scatter_nd_update(v, [[0], [2]], [7, 8]), tf.tensor_scatter_nd_add(v, [[0], [0]], [7, 8]), tf.tensor_scatter_nd_sub(v, [[1]], [1]), tf.tensor_scatter_nd_max(v, [[1]], [5]), tf.tensor_scatter_nd_min(v, [[1]], [-5])
tf.slice(t, [1, 0], [1, 3]), tf.slice(t, [0, 1], [-1, -1]), tf.slice(s, [1], [2])
tf.slice(t, [0, 0], [5, 1])
tf.strided_slice(t, [0, 1], [2, 4]), tf.strided_slice(t, [0, 1], [3, 4], [2, 2]), tf.strided_slice(t, [1, 0], [2, 4], shrink_axis_mask=1), tf.strided_slice(t, [0], [2], begin_mask=1)
tf.where([True, False], [1, 2], [3, 4]), tf.where(b), tf.where(t > 5), tf.where(b, 1.0, 2.0), tf.where(t > 3, t, 0), tf.where(True, [1, 2], [3, 4]), tf.where([[True], [False]], [1, 2], [3, 4]), tf.where(b, s, "z")
tf.where(b, 1)
tf.where([1, 0, 2])
tf.boolean_mask(t, b), tf.boolean_mask(t, [True, False, True, False], axis=1), tf.boolean_mask(t, t > 4), tf.boolean_mask(v, [1 > 0, False, True, True]), tf.boolean_mask(d, [[True, False, True], [False, True, True]])
tf.boolean_mask(t, [True, False])
tf.boolean_mask(t, True)
tf.one_hot([0, 2, -1, 5], 3), tf.one_hot(1, 3, axis=0), tf.one_hot([0, 1], 2, 5, -5), tf.one_hot([[0, 1]], 2, axis=1), tf.one_hot([1], 2, dtype=tf.int32), tf.one_hot([1], 2, on_value=True, off_value=False), tf.one_hot([1], tf.constant(2), on_value=3.0)
tf.one_hot([1], 2, on_value=1.0, dtype=tf.int32)
tf.fill([2, 2], 7), tf.fill([], 1.5), tf.fill([2], "x"), tf.fill(tf.constant([1, 2]), True)
tf.zeros([2, 3]), tf.zeros(3), tf.zeros([]), tf.zeros([2], tf.int32), tf.zeros([1], tf.string), tf.zeros([1], tf.bool), tf.zeros(tf.shape(t)), tf.zeros((2, tf.constant(2))), tf.zeros(tf.TensorShape([2])), tf.zeros(np.array([2, 1])), tf.zeros([2], "complex64"), tf.zeros(tf.constant(3))
tf.ones([2, 3]), tf.ones(3), tf.ones([2], tf.int32), tf.ones([1], tf.bool), tf.ones([2], dtype=tf.complex64)
tf.zeros([-1])
tf.zeros([None, 2])
tf.zeros_like(t), tf.zeros_like(t, tf.float32), tf.zeros_like(s), tf.zeros_like(b), tf.ones_like(t), tf.ones_like(f, dtype=tf.int32), tf.zeros_like([1, 2]), tf.zeros_like(np.ones(2)), tf.ones_like(b), tf.ones_like(c)
tf.eye(2), tf.eye(2, 3), tf.eye(3, 2, dtype=tf.int32), tf.eye(2, batch_shape=[2]), tf.eye(tf.constant(2)), tf.eye(2, 3, batch_shape=[2])
tf.range(5), tf.range(2, 5), tf.range(1, 10, 3), tf.range(5.0), tf.range(0, 1, 0.25), tf.range(5, dtype=tf.float32), tf.range(5, 0, -2), tf.range(tf.constant(3, tf.int64)), tf.range(0), tf.range(3, dtype=tf.int64), tf.range(1, 2.5), tf.range(tf.constant(2.0), 5)
tf.range(1, 5, 0)
tf.linspace(0.0, 1.0, 5), tf.linspace(0, 10, 3), tf.linspace([0.0, 1.0], [1.0, 2.0], 3), tf.linspace([0.0, 1.0], [1.0, 2.0], 3, axis=-1), tf.linspace(1.0, 2.0, 1), tf.linspace(np.float64(0), 1, 4), tf.linspace([[0.0]], [1.0, 2.0], 3, axis=1), tf.linspace(0.0, 1.0, 2)
tf.meshgrid([1, 2], [3, 4, 5]), tf.meshgrid([1, 2], [3, 4, 5], indexing="ij"), tf.meshgrid([1, 2]), tf.meshgrid([1.0, 2.0], [3.0], [4.0, 5.0])
tf.meshgrid([1, 2], [3], indexing="zz")
tf.sequence_mask([1, 3, 2], 5), tf.sequence_mask([[1, 3], [2, 0]]), tf.sequence_mask(3, 5), tf.sequence_mask([1, 2], dtype=tf.float32), tf.sequence_mask(tf.constant([1, 2], tf.int64), 3), tf.sequence_mask([1, 2], tf.constant(3, tf.int64))
tf.broadcast_to(v, [2, 4]), tf.broadcast_to(1, [2, 2]), tf.broadcast_to([[1], [2]], tf.constant([2, 3]))
tf.broadcast_to(t, [2, 2])
tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])), tf.broadcast_static_shape(tf.TensorShape([None, 1]), tf.TensorShape([1, 4]))
tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3]))
tf.broadcast_dynamic_shape([2, 1], [3]), tf.broadcast_dynamic_shape(tf.shape(t), [4])
tf.identity(t), tf.identity(5), tf.identity_n([t, f]), tf.stop_gradient(f), tf.guarantee_const(f)
tf.unique([3, 1, 3]), tf.unique_with_counts(v), tf.unique(["a", "b", "a"], tf.int64)
tf.bitcast(f, tf.int32).shape, tf.bitcast(u, tf.int8), tf.bitcast([1.0], tf.uint8), tf.bitcast([[1, 2, 3, 4]], tf.int64)
tf.cast(f, tf.int32), tf.cast([1.7, -1.7], tf.int32), tf.cast(t, tf.float16), tf.cast(b, tf.float32), tf.cast(1, "float64"), tf.cast([0, 2], tf.bool), tf.cast(c, tf.float32), tf.cast(t, t.dtype), tf.cast(1.5, tf.complex64), tf.cast([300], tf.uint8)
tf.saturate_cast([300, -5, 7], tf.uint8), tf.saturate_cast([1e20, -1e20], tf.int32), tf.saturate_cast([1.5], tf.float16), tf.saturate_cast([200], tf.int8), tf.saturate_cast(f, tf.float64), tf.saturate_cast(np.array([1e300]), tf.float32), tf.saturate_cast([3 + 4j], tf.float32), tf.saturate_cast(tf.constant([2**40]), tf.int32)
tf.ensure_shape(t, [3, None]), tf.ensure_shape(t, None)
tf.ensure_shape(t, [3, 5])
tf.space_to_batch(tf.ones([1, 4, 4, 1]), [2, 2], [[0, 0], [0, 0]]), tf.batch_to_space(tf.reshape(tf.range(16), [4, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]]), tf.batch_to_space(tf.reshape(tf.range(16), [4, 2, 2, 1]), 2, [[0, 1], [1, 0]]), tf.space_to_batch_nd(tf.ones([1, 4, 1]), [2], [[1, 1]])
tf.required_space_to_batch_paddings([5, 7], [2, 3]), tf.required_space_to_batch_paddings([5, 7], [2, 3], [[1, 0], [0, 1]])
tf.extract_volume_patches(tf.reshape(tf.range(16.0), [1, 2, 2, 2, 2]), [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID")
tf.fingerprint([["a", "b"]]), tf.fingerprint([[1, 2]])
tf.searchsorted([1, 3, 5], [0, 3, 6]), tf.searchsorted([1, 3, 5], [0, 3, 6], side="right"), tf.searchsorted([[1, 3], [2, 4]], [[2], [5]]), tf.searchsorted([1.0, 3.0], 2.0 * np.ones(3, "f"), out_type=tf.int64)
tf.searchsorted([1], [1], side="x")
tf.sort([3, 1, 2]), tf.sort([3.0, 1.0], direction="DESCENDING"), tf.sort(t, axis=0, direction="DESCENDING"), tf.sort(f, 0), tf.argsort([3, 1, 2]), tf.argsort(f, axis=0), tf.argsort([1, 1, 0], stable=True), tf.argsort(v, direction="DESCENDING"), tf.sort(u), tf.sort(tf.constant([5, -3], tf.int64)), tf.sort(d, axis=1)
tf.sort([1], direction="x")
tf.dynamic_partition([1, 2, 3, 4], [0, 1, 0, 1], 2), tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]), tf.math.invert_permutation([2, 0, 1]), tf.unravel_index([5, 7], [3, 4])
tf.reverse_sequence(t, [1, 2, 3], seq_axis=1), tf.reverse_sequence(t, [1, 2, 3, 1], seq_axis=0, batch_axis=1)
tf.timestamp().dtype
tf.no_op()
tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5), tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)
t[0], t[1, 2], t[:, 1], t[1:], t[::2], t[::-1], t[..., 1], t[None].shape, t[:, None, 1:3].shape, t[-1], t[-2:, -1], t[tf.constant(1)], t[tf.constant(1):], t[0, ...], t[:, ::-2], t[1:1].shape, t[tf.newaxis, ..., 0].shape, t[np.int64(1)], t[tf.constant(1, tf.int64)], d[..., 1:, 0], d[:, 1], d[1, :, 2]
t[t > 5], t[np.array([True, False, True])], t[[1, 2]]
t[3]
t[0, 0, 0]
t[1.5]
t["a"]
t[[1.0]]
t[tf.constant([1, 2])]
tf.linalg.tensor_diag_part(tf.linalg.tensor_diag([1, 2])), tf.linalg.diag_part(t), tf.linalg.band_part(t, 0, -1)
tf.vectorized_map(lambda x: x * 2, t), tf.map_fn(lambda x: x + 1, v)
tf.clip_by_value(f, -0.5, 0.5), tf.clip_by_value(t, 2, 5), tf.clip_by_norm(f, 1.0), tf.clip_by_value([1.0, 5.0], [0.0, 2.0], 3.0)
tf.edit_distance(tf.sparse.from_dense([["a", "b"]]), tf.sparse.from_dense([["a", "c"]]))
"""
