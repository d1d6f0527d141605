"""tf.compat.v1.nn: where version 1's functions have other arguments than version 2's; everything else is tf.nn's."""

from weft._src.compat.v1.version_2 import namespace as _namespace

from weft._src.compat.v1.nn import (  # noqa: F401
    avg_pool,
    batch_norm_with_global_normalization,
    conv1d,
    conv2d,
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_transpose,
    conv3d,
    convolution,
    ctc_beam_search_decoder,
    ctc_loss,
    ctc_loss_v2,
    depthwise_conv2d,
    dropout,
    embedding_lookup,
    embedding_lookup_sparse,
    fused_batch_norm,
    l2_normalize,
    log_softmax,
    max_pool,
    moments,
    nce_loss,
    pool,
    relu_layer,
    sampled_softmax_loss,
    separable_conv2d,
    sigmoid_cross_entropy_with_logits,
    softmax,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
    weighted_moments,
    xw_plus_b,
)

_MODULES = """
compat.v1.nn_native: conv3d_backprop_filter conv3d_backprop_filter_v2 depthwise_conv2d_native depthwise_conv2d_native_backprop_filter
compat.v1.nn_native: depthwise_conv2d_native_backprop_input quantized_avg_pool quantized_conv2d quantized_max_pool quantized_relu_x dilation2d erosion2d
compat.v1.nn_native: fractional_avg_pool fractional_max_pool max_pool_with_argmax
compat.v1.old_ops: in_top_k
compat.v1.rnn: bidirectional_dynamic_rnn dynamic_rnn raw_rnn static_bidirectional_rnn static_rnn static_state_saving_rnn
keras_package: rnn_cell
"""

__getattr__, __dir__ = _namespace(globals(), "nn", _MODULES)
