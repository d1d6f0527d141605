"""Sparse tensors, linear algebra and networks, part 3."""

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


show(lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0.0], logits=[[1.0, 2.0]]))
show(lambda: tf.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0, 0.0]], logits=[[1.0, 2.0]]))
show(lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[0.5]))
show(lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=[1], logits=[0.5]))
show(lambda: tf.nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), 1, "VALID")[0, :, :, 0])
show(lambda: tf.nn.conv2d(tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 1, 1]), 1, "VALID"))
show(lambda: tf.nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), 1, "FOO"))
show(lambda: tf.nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), 0, "SAME"))
show(lambda: tf.nn.conv2d(tf.ones([3, 3, 1]), tf.ones([2, 2, 1, 1]), 1, "SAME"))
show(lambda: tf.nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([5, 5, 1, 1]), 1, "VALID"))
show(lambda: tf.nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), [1, 2, 3], "SAME"))
show(lambda: tf.nn.max_pool2d(tf.ones([1, 4, 4, 1]), 2, 2, "VALID").shape)
show(lambda: tf.nn.avg_pool2d(tf.ones([1, 4, 4, 1]), 2, 2, "SAME").shape)
show(lambda: tf.nn.max_pool2d(tf.ones([4, 4, 1]), 2, 2, "VALID"))
show(lambda: tf.nn.max_pool2d(tf.ones([1, 4, 4, 1]), 0, 2, "VALID"))
show(lambda: tf.nn.max_pool2d(tf.ones([1, 4, 4, 1]), 2, 2, "X"))
show(lambda: tf.nn.embedding_lookup([[1.0], [2.0]], [5]))
show(lambda: tf.nn.embedding_lookup([[1.0], [2.0]], [0.5]))
show(lambda: tf.nn.depth_to_space(tf.ones([1, 1, 1, 3]), 2))
show(lambda: tf.math.bincount([1, 1, 2]))
show(lambda: tf.math.bincount([1, 1], weights=[0.5, 0.5]))
show(lambda: tf.math.bincount([], minlength=2))
show(lambda: tf.math.confusion_matrix([0, 1], [1, 1]))
show(lambda: tf.math.segment_sum([1, 2, 3], [0, 0, 1]))
show(lambda: tf.math.unsorted_segment_sum([1, 2, 3], [0, 1, 0], 2))
show(lambda: tf.math.cumulative_logsumexp([1.0, 2.0]))
show(lambda: tf.math.polyval([1.0, 2.0], 3.0))
show(lambda: tf.math.reduce_std([1.0, 2.0]))
show(lambda: tf.math.reduce_variance([1.0, 2.0]))
show(lambda: tf.math.l2_normalize([3.0, 4.0]))
show(lambda: tf.math.count_nonzero([0, 1, 2]))
show(lambda: tf.math.zero_fraction([0.0, 1.0]))
show(lambda: tf.math.erf(1.0))
show(lambda: tf.math.lgamma(3.0))
show(lambda: tf.math.igamma(1.0, 2.0))
show(lambda: tf.math.betainc(1.0, 2.0, 0.5))
show(lambda: tf.math.zeta(2.0, 1.0))
show(lambda: tf.math.polygamma(1.0, 2.0))
show(lambda: tf.math.nextafter(1.0, 2.0))
show(lambda: tf.math.atan2(1.0, 2.0))
show(lambda: tf.math.xlogy(0.0, 0.0))
show(lambda: tf.math.accumulate_n([[1], [2]]))
show(lambda: tf.math.is_nan([np.nan]))
show(lambda: tf.math.angle(1 + 1j))
show(lambda: tf.math.conj(1 + 1j))
show(lambda: tf.math.invert_permutation([1, 0]))
show(lambda: tf.math.approx_max_k([1.0, 3.0, 2.0], 1))
show(lambda: tf.math.softplus(1.0))
show(lambda: tf.math.special.bessel_j0(1.0))
show(lambda: tf.math.sobol_sample(2, 2))
show(lambda: tf.math.rsqrt(4.0))
show(lambda: tf.math.squared_difference(3, 1))
show(lambda: tf.math.reciprocal_no_nan(0.0))
show(lambda: tf.math.expm1(0.0))
show(lambda: tf.math.log1p(0.0))
show(lambda: tf.math.sinh(0.0))
show(lambda: tf.math.ndtri(0.5))
show(lambda: tf.math.lbeta([1.0, 2.0]))
show(lambda: tf.math.top_k([1], 1))
show(lambda: tf.math.bincount([-1]))
show(lambda: tf.math.bincount([1.5]))
show(lambda: tf.math.confusion_matrix([0, 1], [1]))
show(lambda: tf.math.confusion_matrix([0, -1], [1, 1]))
show(lambda: tf.math.confusion_matrix([0, 5], [1, 1], num_classes=2))
show(lambda: tf.math.segment_sum([1, 2, 3], [1, 0, 1]))
show(lambda: tf.math.segment_sum([1, 2], [0]))
show(lambda: tf.math.unsorted_segment_sum([1, 2], [0, 5], 2))
show(lambda: tf.math.invert_permutation([0, 0]))
show(lambda: tf.math.lgamma(3))
show(lambda: tf.math.reduce_std([1, 2]))
show(lambda: tf.math.igamma(1, 2))
show(lambda: tf.math.accumulate_n([[1], [1, 2]]))
show(lambda: tf.math.argmax([1, 2], output_type=tf.float32))
show(lambda: tf.signal.fft([1 + 0j, 0j]))
show(lambda: tf.signal.rfft([1.0, 0.0]))
show(lambda: tf.signal.dct([1.0, 2.0]))
show(lambda: tf.signal.frame([1, 2, 3], 2, 1))
show(lambda: tf.signal.stft(tf.ones([4]), 2, 1))
show(lambda: tf.signal.hann_window(3))
show(lambda: tf.signal.fftshift([1, 2, 3]))
show(lambda: tf.signal.dct([1.0, 2.0], type=7))
show(lambda: tf.signal.frame([1, 2, 3], 0, 1))
show(lambda: tf.bitwise.bitwise_and(5, 3))
show(lambda: tf.bitwise.left_shift(1, 2))
show(lambda: tf.bitwise.invert(5))
show(lambda: tf.sets.intersection([[1, 2]], [[2, 3]]))
show(lambda: tf.sets.size(tf.sparse.from_dense([[1, 2]])))
show(lambda: tf.sets.union([[1]], [[2]]))
show(lambda: tf.sets.difference([[1, 2]], [[2]]))
show(lambda: tf.bitwise.bitwise_and(1.5, 1.5))
show(lambda: tf.bitwise.left_shift(1, 40))
