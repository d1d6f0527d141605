"""Calls of tf.math: each line is run by TensorFlow (record_cases.py) and by weft (cases_test.py)."""

import numpy as np


def setup(tf):
    r = np.random.RandomState(2)
    return dict(
        t=tf.reshape(tf.range(12), [3, 4]),
        f=tf.constant(r.randn(3, 4).astype("f")),
        p=tf.constant(r.rand(3, 4).astype("f")),
        d=tf.constant(r.randn(2, 3, 4)),
        v=tf.constant([3, 1, 2, 1]),
        b=tf.constant([[True, False], [True, True]]),
        c=tf.constant([1 + 2j, 3 - 1j], tf.complex64),
        h=tf.constant([1.5, -2.5], tf.float16),
        u=tf.constant([1, 200, 3], tf.uint8),
        i=tf.constant([7, -7, 5, -5]),
    )


CASES = """
tf.add(1, 2), tf.add(t, 1), tf.add([1.0, 2.0], 3), tf.add("a", "b"), tf.add(c, 1), tf.add(u, u), tf.math.add(1.5, 2), tf.add(x=f, y=f)
tf.add(t, f)
tf.add(t, 1.5)
tf.subtract(t, v), tf.multiply(f, 2), tf.multiply(2, f), tf.multiply([1, 2], [3, 4]), tf.subtract(5, v)
tf.divide(t, 2), tf.divide(f, f), tf.divide([1, 2], [3, 4]), tf.divide(7, 2), tf.truediv(7, 2), tf.truediv(u, u), tf.divide(1.0, [2.0, 4.0]), tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0]), tf.realdiv(3.0, 2.0)
tf.truediv(t, f)
tf.math.floordiv(i, 2), tf.math.floordiv([7.5, -7.5], 2.0), tf.math.floormod(i, 3), tf.math.mod(i, -3), tf.truncatediv(i, 3), tf.truncatemod(i, 3), i % 3, i // 2, -i, abs(i), ~b, ~v, i ** 2, 2 ** v, 2.0 ** f, f / 2, 2 / f, 1 - f, 2 - v, 7 // v, 7 % v
f @ tf.transpose(f), tf.constant([True]) & tf.constant([False]), b | b, b ^ b, v & 1, v | 4, v ^ 3, t > 3, t >= v, 3 < t, f <= 0, t == 5, t != 5, v == [3, 1, 2, 0]
tf.math.floordiv(i, 0)
tf.pow(f, 2.0), tf.pow(v, 2), tf.pow(2.0, 3), tf.square(f), tf.sqrt(p), tf.math.rsqrt(p), tf.exp(f), tf.math.log(p), tf.math.log1p(p), tf.math.expm1(p), tf.sign(f), tf.sign(c), tf.sign(i), tf.abs(f), tf.abs(c), tf.abs(i), tf.negative(f), tf.math.reciprocal(f), tf.math.reciprocal_no_nan([0.0, 2.0])
tf.sqrt(t)
tf.floor(f), tf.math.ceil(f), tf.round(f), tf.round([0.5, 1.5, 2.5, -0.5]), tf.round(t), tf.math.rint(f), tf.maximum(f, 0), tf.minimum(t, 5), tf.maximum([1, 5], [3, 2]), tf.math.squared_difference(f, p)
tf.sin(f), tf.cos(f), tf.tan(f), tf.asin(p), tf.acos(p), tf.atan(f), tf.atan2(f, p), tf.sinh(f), tf.cosh(f), tf.tanh(f), tf.asinh(f), tf.acosh(p + 1), tf.atanh(p), tf.math.atan2(y=1.0, x=2.0)
tf.sigmoid(f), tf.math.log_sigmoid(f), tf.math.softplus(f), tf.math.softsign(f), tf.math.erf(f), tf.math.erfc(f), tf.math.erfinv(p), tf.math.erfcinv(p), tf.math.ndtri(p), tf.math.lgamma(p), tf.math.digamma(p), tf.math.lbeta(p), tf.math.betainc(p, p, p), tf.math.igamma(p, p), tf.math.igammac(p, p), tf.math.polygamma(1.0, p), tf.math.zeta(p + 2, p), tf.math.xlogy(p, p), tf.math.xdivy(p, p), tf.math.xlog1py(p, p), tf.math.nextafter(f, p)
tf.math.bessel_i0(p), tf.math.bessel_i0e(p), tf.math.bessel_i1(p), tf.math.bessel_i1e(p), tf.math.special.bessel_j0(p), tf.math.special.bessel_j1(p), tf.math.special.bessel_k0(p), tf.math.special.bessel_k0e(p), tf.math.special.bessel_k1(p), tf.math.special.bessel_k1e(p), tf.math.special.bessel_y0(p), tf.math.special.bessel_y1(p), tf.math.special.dawsn(p), tf.math.special.expint(p), tf.math.special.fresnel_cos(p), tf.math.special.fresnel_sin(p), tf.math.special.spence(p)
tf.equal(t, 5), tf.not_equal(v, 1), tf.less(f, 0), tf.less_equal(t, 5), tf.greater(f, p), tf.greater_equal(1, 2), tf.equal("a", ["a", "b"]), tf.logical_and(b, b), tf.logical_or(b, False), tf.logical_not(b), tf.math.logical_xor(b, True)
tf.equal(t, f)
tf.math.is_nan([1.0, float("nan")]), tf.math.is_inf([1.0, float("inf")]), tf.math.is_finite([1.0, float("inf")]), tf.math.is_non_decreasing([1, 1, 2]), tf.math.is_strictly_increasing([1, 1, 2]), tf.math.is_non_decreasing([]), tf.math.zero_fraction([0.0, 1.0])
tf.math.real(c), tf.math.imag(c), tf.math.angle(c), tf.math.conj(c), tf.math.real(f), tf.math.conj(f), tf.complex(1.0, 2.0), tf.complex(f, f), tf.math.angle([-1.0, 2.0])
tf.complex(1, 2)
tf.add_n([t, t, t]), tf.add_n([t]), tf.math.accumulate_n([f, f]), tf.math.scalar_mul(2.0, f), tf.scalar_mul(3, t)
tf.add_n([])
tf.add_n([t, f])
tf.reduce_sum(t), tf.reduce_sum(t, 0), tf.reduce_sum(t, [0, 1]), tf.reduce_sum(t, -1, keepdims=True), tf.reduce_sum([1.0, 2.0]), tf.reduce_sum(5), tf.reduce_sum(t, axis=[]), tf.reduce_sum(d, (0, 2)), tf.reduce_sum(t, tf.constant(1)), tf.reduce_sum([]), tf.reduce_sum(c), tf.reduce_sum(u)
tf.reduce_sum(t, 5)
tf.reduce_sum(["a"])
tf.reduce_mean(f), tf.reduce_mean(t), tf.reduce_mean(t, 0), tf.reduce_mean(f, [0], True), tf.reduce_mean([1, 2]), tf.reduce_max(t), tf.reduce_max(f, 1), tf.reduce_min(f, 0), tf.reduce_prod(v), tf.reduce_prod(f, -1), tf.reduce_any(b), tf.reduce_any(b, 0), tf.reduce_all(b, 1, keepdims=True), tf.reduce_all(b)
tf.reduce_any(t)
tf.reduce_logsumexp(f), tf.reduce_logsumexp(f, 0), tf.reduce_logsumexp(f, 1, True), tf.reduce_logsumexp([float("-inf"), 0.0]), tf.math.reduce_variance(f), tf.math.reduce_variance(f, 0), tf.math.reduce_std(f, 1, True), tf.math.reduce_std(c), tf.math.reduce_euclidean_norm(f), tf.math.reduce_euclidean_norm(f, 0), tf.math.count_nonzero([0, 1, 2]), tf.math.count_nonzero([[0, 1], [1, 1]], 0), tf.math.count_nonzero(["", "a"]), tf.math.count_nonzero(b, dtype=tf.int32)
tf.math.reduce_std(t)
tf.cumsum(v), tf.cumsum(t, 1), tf.cumsum(v, exclusive=True), tf.cumsum(v, reverse=True), tf.math.cumprod(v), tf.math.cumprod(f, 1, exclusive=True, reverse=True), tf.math.cumulative_logsumexp(f), tf.math.cumulative_logsumexp(f, 1, exclusive=True), tf.cumsum(f, axis=-1)
tf.argmax(f), tf.argmax(f, 1), tf.argmin(t, axis=0), tf.argmax(f, axis=1, output_type=tf.int32), tf.math.argmax([1, 5, 2]), tf.argmin(f, -1)
tf.math.segment_sum(f, [0, 0, 1]), tf.math.segment_mean(f, [0, 0, 2]), tf.math.segment_max(t, [0, 1, 1]), tf.math.segment_min(t, [0, 1, 1]), tf.math.segment_prod(t, [0, 1, 1]), tf.math.unsorted_segment_sum(t, [1, 0, 1], 3), tf.math.unsorted_segment_max(f, [1, 0, 1], 2), tf.math.unsorted_segment_min(t, [1, 0, 1], 2), tf.math.unsorted_segment_prod(t, [1, 0, 1], 2), tf.math.unsorted_segment_mean(f, [1, 0, 1], 3), tf.math.unsorted_segment_sqrt_n(f, [1, 0, 1], 2), tf.math.unsorted_segment_mean(d, [[1, 0, 1], [0, 0, 2]], 3)
tf.matmul(f, f, transpose_b=True), tf.matmul(d, d, transpose_b=True), tf.matmul(d, tf.ones([4, 2], tf.float64)), tf.matmul(t, t, transpose_a=True), tf.matmul([[1, 2]], [[3], [4]]), tf.linalg.matvec(f, [1.0, 2.0, 3.0, 4.0]), tf.matmul(h[None], h[:, None]), tf.matmul(f, f, transpose_a=True, b_is_sparse=True), tf.matmul(c[None], c[None], adjoint_b=True), tf.matmul(tf.cast(t, tf.bfloat16), tf.cast(t, tf.bfloat16), transpose_b=True)
tf.matmul(f, f)
tf.matmul(f, t)
tf.tensordot(f, f, [[0, 1], [0, 1]]), tf.tensordot(d, tf.cast(f, tf.float64), [[2], [1]]), tf.tensordot(f, tf.ones([4, 2]), 1), tf.tensordot([1, 2], [3, 4], 0), tf.tensordot(d, d, axes=[[0, 1], [0, 1]])
tf.einsum("ij,kj->ik", f, f), tf.einsum("ijk->kji", d), tf.einsum("...j,j->...", d, tf.ones([4], tf.float64)), tf.einsum("ij->", f), tf.einsum("i,j,k->ijk", f[0], f[1], f[2]), tf.einsum("ij,ij->i", f, f, name="e"), tf.einsum("bij,bkj->bik", d, d), tf.einsum("abc,abd,abe->cde", d, d, d)
tf.einsum("ij,jk->ik", f)
tf.math.bincount([1, 1, 3]), tf.math.bincount([1, 1, 3], minlength=6), tf.math.bincount([1, 1, 3], maxlength=2), tf.math.bincount([1, 1, 3], weights=[0.5, 1.0, 2.0]), tf.math.bincount([[1, 1], [0, 2]], axis=-1), tf.math.bincount([[1, 1], [0, 2]]), tf.math.bincount([1, 1], dtype=tf.float32), tf.math.bincount([[1, 1], [0, 2]], axis=-1, binary_output=True), tf.math.bincount([], minlength=2), tf.math.bincount([1, 1, 3], binary_output=True), tf.math.bincount([[1, 1], [0, 2]], weights=[[1.0, 2.0], [3.0, 4.0]], axis=-1)
tf.math.confusion_matrix([1, 2, 4], [2, 2, 4]), tf.math.confusion_matrix([0, 1], [1, 1], num_classes=3, dtype=tf.int64), tf.math.confusion_matrix([1, 2], [2, 2], weights=[0.5, 1.0], dtype=tf.float32), tf.math.confusion_matrix([[1], [2]], [2, 2])
tf.math.top_k(f, 2), tf.math.top_k([5, 1, 3], 2), tf.math.top_k(f, k=1), tf.math.in_top_k([1, 2, 0], f, 2), tf.math.approx_max_k(f, 2)
tf.math.top_k(f, 7)
tf.math.polyval([1.0, 2.0, 3.0], f), tf.math.polyval([2, 1], 3), tf.math.polyval([], f), tf.math.sobol_sample(2, 4), tf.math.sobol_sample(3, 2, skip=5, dtype=tf.float64)
tf.math.polyval((1.0,), f)
tf.math.l2_normalize(f, 1), tf.math.softmax(f), tf.math.log_softmax(f, axis=0), tf.math.multiply_no_nan(f, 0.0), tf.math.multiply_no_nan(float("nan"), 0.0)
tf.sigmoid(t)
tf.abs("a")
tf.exp("a")
tf.cast([1, 2], "nothing")
tf.bitwise.bitwise_and(v, 1), tf.bitwise.bitwise_or(v, [4, 4, 4, 4]), tf.bitwise.bitwise_xor(v, v), tf.bitwise.invert(u), tf.bitwise.left_shift(v, 2), tf.bitwise.right_shift(v, 1)
tf.quantization.fake_quant_with_min_max_args(f, min=-1, max=1), tf.quantization.fake_quant_with_min_max_vars(f, -1.0, 1.0, num_bits=4), tf.quantization.fake_quant_with_min_max_vars_per_channel(f, [-1.0] * 4, [1.0] * 4, narrow_range=True), tf.quantization.quantize_and_dequantize(f, -1.0, 1.0, range_given=True), tf.quantization.quantize_and_dequantize_v2(f, -1.0, 1.0), tf.quantization.dequantize(tf.quantization.quantize(f, -1.0, 1.0, tf.quint8).output, -1.0, 1.0), tf.quantization.quantize(f, -1.0, 1.0, tf.qint8)[1:], tf.quantization.fake_quant_with_min_max_args_gradient(f, f), tf.quantization.fake_quant_with_min_max_vars_gradient(f, f, -1.0, 1.0)
"""
