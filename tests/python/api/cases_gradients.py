"""Gradients of functions of the API: each line is run by TensorFlow (record_cases.py) and by weft (cases_test.py)."""

import numpy as np


def setup(tf):
    r = np.random.RandomState(5)

    def grad(function, *values):
        with tf.GradientTape() as tape:
            for v in values:
                tape.watch(v)
            made = function(*values)
            parts = [p for p in tf.nest.flatten(made) if p.dtype.is_floating]
            total = tf.add_n(
                [
                    tf.reduce_sum(p * tf.reshape(tf.range(1.0, tf.cast(tf.size(p), tf.float32) + 1), tf.shape(p)))
                    for p in parts
                ]
            )
        return tape.gradient(total, list(values))

    return dict(
        g=grad,
        f=tf.constant(r.randn(3, 4).astype("f")),
        p=tf.constant(r.rand(3, 4).astype("f") * 0.8 + 0.1),
        w=tf.constant(r.randn(4, 2).astype("f")),
        x4=tf.constant(r.randn(1, 5, 5, 2).astype("f")),
        k=tf.constant(r.randn(3, 3, 2, 2).astype("f")),
        x3=tf.constant(r.randn(1, 6, 2).astype("f")),
        k1=tf.constant(r.randn(3, 2, 2).astype("f")),
        s=tf.constant((lambda a: a @ a.T + np.eye(3))(r.randn(3, 3)).astype("f")),
        q=tf.constant(r.randn(3, 3).astype("f")),
    )


CASES = """
g(lambda x: tf.add(x, x), f), g(lambda x: tf.multiply(x, x), f), g(lambda x: tf.divide(1.0, x), p), g(lambda x, y: x - y, f, p), g(lambda x: tf.pow(x, 3.0), p), g(lambda x, y: tf.pow(x, y), p, f), g(lambda x: tf.sqrt(x), p), g(lambda x: tf.exp(x), f), g(lambda x: tf.math.log(x), p), g(lambda x: tf.abs(x), f), g(lambda x: tf.square(x), f), g(lambda x: tf.maximum(x, 0.0), f), g(lambda x, y: tf.minimum(x, y), f, p)
g(tf.sin, f), g(tf.cos, f), g(tf.tan, f), g(tf.asin, p), g(tf.acos, p), g(tf.atan, f), g(tf.sinh, f), g(tf.cosh, f), g(tf.tanh, f), g(tf.sigmoid, f), g(tf.math.log_sigmoid, f), g(tf.math.softplus, f), g(tf.math.erf, f), g(tf.math.lgamma, p), g(tf.math.digamma, p), g(tf.math.rsqrt, p), g(tf.math.log1p, p), g(tf.math.expm1, f), g(tf.math.reciprocal, p), g(lambda x, y: tf.atan2(x, y), f, p), g(tf.math.xlogy, p, p), g(tf.math.erfinv, p), g(tf.math.bessel_i0e, f), g(tf.math.special.dawsn, p), g(tf.math.divide_no_nan, f, p)
g(lambda x: tf.reduce_sum(x, 0), f), g(lambda x: tf.reduce_mean(x, 1), f), g(lambda x: tf.reduce_max(x, 1), f), g(lambda x: tf.reduce_min(x), f), g(lambda x: tf.reduce_prod(x, 0), f), g(lambda x: tf.reduce_logsumexp(x, 1), f), g(lambda x: tf.math.reduce_std(x, 0), f), g(lambda x: tf.math.reduce_variance(x), f), g(lambda x: tf.math.reduce_euclidean_norm(x, 1), f), g(lambda x: tf.cumsum(x, 1), f), g(lambda x: tf.math.cumprod(x, 0), f), g(lambda x: tf.norm(x, axis=1), f), g(lambda x: tf.norm(x, 1), f), g(lambda x: tf.linalg.norm(x, 2, axis=[0, 1]), f), g(lambda x: tf.math.cumulative_logsumexp(x), f)
g(lambda x: tf.math.segment_sum(x, [0, 0, 1]), f), g(lambda x: tf.math.segment_mean(x, [0, 0, 1]), f), g(lambda x: tf.math.unsorted_segment_max(x, [0, 1, 1], 2), f), g(lambda x: tf.math.unsorted_segment_mean(x, [0, 1, 1], 2), f), g(lambda x: tf.math.segment_max(x, [0, 0, 1]), f)
g(lambda x: tf.reshape(x, [4, 3]), f), g(lambda x: tf.transpose(x), f), g(lambda x: tf.concat([x, x * 2], 1), f), g(lambda x: tf.stack([x, x], 1), f), g(lambda x: tf.unstack(x)[1], f), g(lambda x: tf.split(x, 2, 1)[0], f), g(lambda x: tf.tile(x, [2, 1]), f), g(lambda x: tf.repeat(x, [1, 2, 0], 0), f), g(lambda x: tf.pad(x, [[1, 1], [0, 2]]), f), g(lambda x: tf.pad(x, [[1, 1], [1, 1]], "REFLECT"), f), g(lambda x: tf.reverse(x, [0]), f), g(lambda x: tf.roll(x, 1, 0), f), g(lambda x: tf.gather_nd(x, [[0, 1], [2, 2]]), f), g(lambda x: x[1:, ::2], f), g(lambda x: tf.where(x > 0, x, x * 3), f), g(lambda x: tf.boolean_mask(x, [True, False, True]), f), g(lambda x: tf.sort(x), f), g(lambda x: tf.math.top_k(x, 2).values, f), g(lambda x: tf.expand_dims(x, 0), f), g(lambda x: tf.broadcast_to(x, [2, 3, 4]), f), g(lambda x: tf.gather(x, [[0, 1], [1, 2], [3, 3]], batch_dims=1), f), g(lambda x: tf.tensor_scatter_nd_update(x, [[0]], [[1.0, 2.0, 3.0, 4.0]]), f), g(lambda x: tf.scatter_nd([[1], [0], [1]], x, [3, 4]), f), g(lambda x: tf.clip_by_value(x, -0.5, 0.5), f), g(lambda x: tf.clip_by_norm(x, 1.0), f), g(lambda x: tf.clip_by_global_norm([x], 1.0)[0], f), g(lambda x: tf.linspace(x[0], x[1], 3), f), g(lambda x: tf.dynamic_partition(x, [0, 1, 0], 2), f)
g(lambda x, y: tf.matmul(x, y), f, w), g(lambda x: tf.matmul(x, x, transpose_b=True), f), g(lambda x, y: tf.einsum("ij,jk->ki", x, y), f, w), g(lambda x, y: tf.tensordot(x, y, 1), f, w), g(lambda x: tf.linalg.matvec(x, [1.0, 2.0, 3.0, 4.0]), f), g(lambda x, y, z: tf.einsum("ij,jk,lk->il", x, y, z), f, w, w), g(lambda x: tf.linalg.trace(x), q), g(lambda x: tf.linalg.diag_part(x), q), g(lambda x: tf.linalg.band_part(x, 1, 0), q), g(lambda x: tf.linalg.set_diag(x, [1.0, 2.0, 3.0]), q)
g(tf.linalg.inv, s), g(tf.linalg.det, s), g(tf.linalg.cholesky, s), g(tf.linalg.logdet, s), g(lambda x: tf.linalg.solve(x, q), s), g(lambda x: tf.linalg.triangular_solve(x, q), s), g(lambda x: tf.linalg.eigvalsh(x), s), g(lambda x: tf.linalg.svd(x, compute_uv=False), q), g(lambda x: tf.linalg.expm(x * 0.1), q), g(lambda x: tf.linalg.pinv(x), s), g(lambda x: tf.linalg.slogdet(x)[1], s), g(lambda x: tf.linalg.cholesky_solve(tf.linalg.cholesky(x), q), s), g(lambda x: tf.linalg.lstsq(x, q), s)
g(tf.nn.relu, f), g(tf.nn.elu, f), g(tf.nn.selu, f), g(tf.nn.leaky_relu, f), g(tf.nn.gelu, f), g(lambda x: tf.nn.gelu(x, True), f), g(tf.nn.silu, f), g(tf.nn.relu6, f), g(tf.nn.crelu, f), g(tf.nn.softmax, f), g(lambda x: tf.nn.softmax(x, 0), f), g(tf.nn.log_softmax, f), g(lambda x: tf.nn.l2_normalize(x, 1), f), g(tf.nn.l2_loss, f), g(lambda x: tf.nn.moments(x, [0]), f), g(lambda x: tf.nn.batch_normalization(x, 0.1, 2.0, 0.3, 1.5, 1e-3), f), g(lambda x: tf.nn.lrn(x), x4), g(lambda x: tf.nn.bias_add(x, [1.0, 2.0, 3.0, 4.0]), f)
g(lambda x: tf.nn.softmax_cross_entropy_with_logits(labels=p, logits=x), f), g(lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 3], logits=x), f), g(lambda x, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x), f, p), g(lambda x: tf.nn.weighted_cross_entropy_with_logits(labels=p, logits=x, pos_weight=2.0), f), g(lambda x: tf.nn.log_poisson_loss(p, x), f), g(lambda x: tf.nn.ctc_loss([[1, 1]], tf.reshape(x, [3, 1, 4]), [1], [3]), f), g(lambda x, y: tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x), f, p)
g(lambda x, y: tf.nn.conv2d(x, y, 1, "SAME"), x4, k), g(lambda x, y: tf.nn.conv2d(x, y, 2, "VALID"), x4, k), g(lambda x, y: tf.nn.conv1d(x, y, 1, "SAME"), x3, k1), g(lambda x, y: tf.nn.conv2d_transpose(x, y, [1, 10, 10, 2], 2), x4, k), g(lambda x, y: tf.nn.depthwise_conv2d(x, y, [1, 1, 1, 1], "SAME"), x4, k), g(lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), x4), g(lambda x: tf.nn.avg_pool2d(x, 2, 2, "SAME"), x4), g(lambda x: tf.nn.max_pool1d(x, 2, 1, "VALID"), x3), g(lambda x, y: tf.nn.convolution(x, y, dilations=2), x4, k), g(lambda x: tf.nn.space_to_depth(x[:, :4, :4], 2), x4), g(lambda x, y: tf.nn.atrous_conv2d(x, y, 2, "SAME"), x4, k)
g(lambda x: tf.nn.experimental.stateless_dropout(x, 0.4, [1, 2]), f), g(lambda x: tf.random.stateless_normal([3, 4], [1, 2], x, 1.0), f), g(lambda x: tf.nn.embedding_lookup(x, [0, 2, 0]) * 2.0, f)[0] is not None, g(lambda x: tf.identity(x) + tf.stop_gradient(x), f), g(lambda x: tf.cast(tf.cast(x, tf.float64), tf.float32), f), g(lambda x: tf.math.real(tf.complex(x, x) * tf.complex(x, 2 * x)), f), g(lambda x: tf.debugging.check_numerics(x, "m"), f), g(lambda x: tf.ensure_shape(x, [3, 4]), f), g(lambda x: tf.quantization.fake_quant_with_min_max_args(x, -1, 1), f), g(lambda x: tf.linalg.LinearOperatorFullMatrix(x).solve(q), s), g(lambda x: tf.map_fn(lambda r: r * r, x), f), g(lambda x: tf.scan(lambda a, r: a * 0.5 + r, x), f)
"""
