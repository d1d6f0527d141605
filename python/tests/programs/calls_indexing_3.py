"""Slices, gathers, scatters and reshapes, with arguments that do not fit, part 3."""

import contextlib
import re

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


x = tf.constant([[1, 2, 3], [4, 5, 6]])
show(lambda: tf.reverse_sequence(x, [1, 4], seq_axis=1))
show(lambda: tf.broadcast_to(x, [2, 2, 3]))
show(lambda: tf.broadcast_to(x, [3, 3]))
show(lambda: tf.broadcast_to(x, [3]))
show(lambda: tf.meshgrid([1, 2], [3, 4, 5]))
show(lambda: tf.meshgrid([1, 2], [3, 4, 5], indexing="ij"))
show(lambda: tf.meshgrid([1, 2], indexing="zz"))
show(lambda: tf.meshgrid(1, 2))
show(lambda: tf.unique([1, 2, 1]))
show(lambda: tf.unique([[1, 2]]))
show(lambda: tf.unique_with_counts([1, 2, 1]))
show(lambda: tf.unique_with_counts(["a", "b", "a"], out_idx=tf.int64))
show(lambda: tf.searchsorted([1, 3, 5], [2, 3]))
show(lambda: tf.searchsorted([1, 3, 5], [2, 3], side="right"))
show(lambda: tf.searchsorted([1, 3, 5], [2, 3], side="x"))
show(lambda: tf.searchsorted([[1, 3]], [[2], [3]]))
show(lambda: tf.sort([3, 1, 2], direction="DESCENDING"))
show(lambda: tf.sort([3, 1, 2], direction="down"))
show(lambda: tf.sort(["b", "a"]))
show(lambda: tf.argsort([3, 1, 2]))
show(lambda: tf.argsort([[3, 1], [1, 2]], axis=0, stable=True))
show(lambda: tf.math.top_k([1, 5, 3], k=2))
show(lambda: tf.math.top_k([1, 5, 3], k=5))
show(lambda: tf.math.top_k([1, 5, 3], k=-1))
show(lambda: tf.math.top_k(1))
show(lambda: tf.math.in_top_k([1], [[0.1, 0.9]], 1))
show(lambda: tf.shape_n([x, [1]]))
show(lambda: tf.shape(x, out_type=tf.int64))
show(lambda: tf.size(x))
show(lambda: tf.rank(x))
show(lambda: tf.size("a"))
show(lambda: tf.shape(tf.Variable([1, 2])))
show(lambda: tf.ensure_shape(x, [None, 3]))
show(lambda: tf.ensure_shape(x, [3, 3]))
show(lambda: tf.identity_n([x, 1]))
show(lambda: tf.no_op())
show(lambda: tf.group())
show(lambda: tf.tuple([x, None]))
show(lambda: tf.edit_distance(tf.sparse.from_dense(["a"]), tf.sparse.from_dense(["b"])))
show(lambda: tf.sequence_mask(3, 2))
show(lambda: tf.space_to_batch(tf.ones([1, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]]).shape)
show(lambda: tf.extract_volume_patches)
show(lambda: tf.parallel_stack([1, 2]))
show(lambda: tf.guarantee_const(x))
show(lambda: tf.stop_gradient("a"))
show(lambda: tf.histogram_fixed_width([0.0, 1.0, 5.0], [0.0, 5.0], nbins=3))
show(lambda: tf.histogram_fixed_width([0.0, 1.0, 5.0], [5.0, 0.0], nbins=3))
show(lambda: tf.histogram_fixed_width_bins([0.0, 1.0, 5.0], [0.0, 5.0], nbins=3))
show(lambda: tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2))
show(lambda: tf.dynamic_partition([1, 2, 3], [0, 5, 0], 2))
show(lambda: tf.dynamic_partition([1, 2, 3], [0, 1], 2))
show(lambda: tf.dynamic_stitch([[0, 2], [1]], [[1, 3], [2]]))
show(lambda: tf.tensordot(x, x, axes=1))
show(lambda: tf.tensordot(x, x, axes=[[0], [0]]))
show(lambda: tf.tensordot(x, x, axes=[[0, 1], [0, 1]]))
show(lambda: tf.tensordot(x, x, axes=[[0, 1], [0]]))
show(lambda: tf.einsum("ij,kj->ik", x, x))
show(lambda: tf.einsum("ij,kj", x, x))
show(lambda: tf.einsum("ij", x, x))
show(lambda: tf.einsum("ijk->i", x))
show(lambda: tf.einsum("i..j->", x))
show(lambda: tf.einsum("ij,jk->ik", x, x))
show(lambda: tf.einsum("ij->ijj", x))
