"""Functions of the API in graphs that know nothing of a tensor's shape: the same values as eagerly."""

import numpy as np
import pytest

import weft as tf

X = np.random.RandomState(0).randn(3, 4).astype("f")
CALLS = {
    "reduce_sum": lambda x: (tf.reduce_sum(x), tf.reduce_sum(x, 0), tf.math.reduce_std(x), tf.reduce_logsumexp(x)),
    "softmax": lambda x: (
        tf.nn.softmax(x),
        tf.nn.softmax(x, axis=0),
        tf.nn.softmax(x, axis=-2),
        tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(x), x),
    ),
    "order": lambda x: (tf.sort(x), tf.transpose(x), tf.linalg.matrix_transpose(x), tf.math.top_k(x, 2)),
    "segments": lambda x: tf.math.unsorted_segment_mean(x, [0, 1, 1], 2),
    "norms": lambda x: (
        tf.norm(x),
        tf.norm(x, axis=1),
        tf.clip_by_norm(x, 1.0),
        tf.nn.l2_normalize(x, 1),
        tf.nn.moments(x, [0]),
    ),
    "parts": lambda x: (
        x[1:, 0],
        tf.reshape(x, [-1]),
        tf.gather(x, [0, 2], axis=1),
        tf.boolean_mask(x, [True, False, True]),
        tf.unstack(x, num=3),
    ),
    "repeat": lambda x: (
        tf.repeat(x, 2, axis=0),
        tf.repeat(x, [1, 0, 2], axis=0),
        tf.tile(x, [2, 1]),
        tf.pad(x, [[1, 0], [0, 0]]),
    ),
    "products": lambda x: (
        tf.matmul(x, x, transpose_b=True),
        tf.tensordot(x, x, [[0], [0]]),
        tf.tensordot(x, x, [[-1], [1]]),
        tf.einsum("ij->ji", x),
    ),
    "like": lambda x: (
        tf.zeros_like(x),
        tf.ones_like(x),
        tf.shape(x),
        tf.size(x),
        tf.rank(x),
        tf.sequence_mask(tf.shape(x)),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_open_rank(name):
    call = CALLS[name]
    traced = tf.function(call, input_signature=[tf.TensorSpec(None, tf.float32)], autograph=False)
    for have, want in zip(tf.nest.flatten(traced(tf.constant(X))), tf.nest.flatten(call(tf.constant(X)))):
        np.testing.assert_allclose(have.numpy(), want.numpy(), rtol=1e-5)
