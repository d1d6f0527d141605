"""tf.nn."""

from types import SimpleNamespace as _Names

from weft._src.namespace import missing
from weft._src.ops.array_ops import depth_to_space, space_to_batch, space_to_depth  # noqa: F401
from weft._src.ops.conv_ops import (  # noqa: F401
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    conv_transpose,
    convolution,
    depthwise_conv2d,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
    dilation2d,
    erosion2d,
    separable_conv2d,
    with_space_to_batch,
)
from weft._src.ops.ctc_ops import (
    collapse_repeated,
    ctc_beam_search_decoder,
    ctc_greedy_decoder,
    ctc_loss,
    ctc_unique_labels,
)  # noqa: F401
from weft._src.ops.embedding_ops import embedding_lookup, embedding_lookup_sparse, safe_embedding_lookup_sparse  # noqa: F401
from weft._src.ops.math_ops import (
    approx_max_k,
    approx_min_k,
    in_top_k,
    sigmoid,
    softplus,
    softsign,
    tanh,
    top_k,
    zero_fraction,
)  # noqa: F401
from weft._src.ops.nn_ops import (  # noqa: F401
    bias_add,
    compute_average_loss,
    crelu,
    dropout,
    elu,
    gelu,
    general_dropout,
    isotonic_regression,
    l2_loss,
    leaky_relu,
    local_response_normalization,
    log_poisson_loss,
    log_softmax,
    lrn,
    relu,
    relu6,
    scale_regularization_loss,
    selu,
    sigmoid_cross_entropy_with_logits,
    silu,
    softmax,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
    stateless_dropout,
    swish,
    weighted_cross_entropy_with_logits,
)
from weft._src.ops.norm_ops import (  # noqa: F401
    batch_norm_with_global_normalization,
    batch_normalization,
    l2_normalize,
    moments,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
)
from weft._src.ops.pool_ops import (  # noqa: F401
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    fractional_avg_pool,
    fractional_max_pool,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_with_argmax,
    pool,
)
from weft._src.ops.sampling_ops import (  # noqa: F401
    all_candidate_sampler,
    compute_accidental_hits,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    nce_loss,
    sampled_softmax_loss,
)

experimental = _Names(general_dropout=general_dropout, stateless_dropout=stateless_dropout)
del general_dropout, stateless_dropout

_missing = missing("tf.nn")


def __getattr__(name):
    if name in ("RNNCellDeviceWrapper", "RNNCellDropoutWrapper", "RNNCellResidualWrapper"):
        from weft._src.ops import rnn_cells

        return getattr(rnn_cells, name)
    return _missing(name)
