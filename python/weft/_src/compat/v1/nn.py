"""tf.compat.v1.nn: where version 1's functions have other arguments than version 2's; everything else is tf.nn's."""

from weft._src.raw import raw
from weft._src.framework.convert import convert_to_tensor
from weft._src.ops import (
    array_ops,
    conv_ops,
    ctc_ops,
    embedding_ops,
    math_ops,
    nn_ops,
    norm_ops,
    pool_ops,
    sampling_ops,
)
from weft._src.ops.norm_ops import fused_batch_norm  # noqa: F401


def _one(first, second, name, old):
    if first is not None and second is not None:
        raise ValueError(f"Cannot specify both '{old}' and '{name}'.")
    return first if first is not None else second


def softmax(logits, axis=None, name=None, dim=None):
    return nn_ops.softmax(logits, _one(axis, dim, "axis", "dim"), name)


def log_softmax(logits, axis=None, name=None, dim=None):
    return nn_ops.log_softmax(logits, _one(axis, dim, "axis", "dim"), name)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Dropout by the chance to keep an element, or to lose it."""
    if rate is None:
        if keep_prob is None:
            raise ValueError(f"`rate` must be provided. Received: rate={rate}, keep_prob={keep_prob}")
        rate = 1 - keep_prob
    elif keep_prob is not None:
        raise ValueError("Cannot specify both 'rate' and 'keep_prob'")
    return nn_ops.dropout(x, rate, noise_shape, seed, name)


def conv2d(
    input,
    filter=None,
    strides=None,
    padding=None,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=[1, 1, 1, 1],
    name=None,
    filters=None,
):
    return conv_ops.conv2d(
        input, _one(filters, filter, "filters", "filter"), strides, padding, data_format, dilations, name
    )


def conv1d(
    value=None,
    filters=None,
    stride=None,
    padding=None,
    use_cudnn_on_gpu=None,
    data_format=None,
    name=None,
    input=None,
    dilations=None,
):
    return conv_ops.conv1d(
        _one(input, value, "input", "value"), filters, stride, padding, data_format or "NWC", dilations, name
    )


def conv3d(
    input,
    filter=None,
    strides=None,
    padding=None,
    data_format="NDHWC",
    dilations=[1, 1, 1, 1, 1],
    name=None,
    filters=None,
):
    return conv_ops.conv3d(
        input, _one(filters, filter, "filters", "filter"), strides, padding, data_format, dilations, name
    )


def conv2d_transpose(
    value=None,
    filter=None,
    output_shape=None,
    strides=None,
    padding="SAME",
    data_format="NHWC",
    name=None,
    input=None,
    filters=None,
    dilations=None,
):
    return conv_ops.conv2d_transpose(
        _one(input, value, "input", "value"),
        _one(filters, filter, "filters", "filter"),
        output_shape,
        strides,
        padding,
        data_format,
        dilations,
        name,
    )


def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None):
    return conv_ops.depthwise_conv2d(
        input, filter, strides, padding, data_format, _one(dilations, rate, "dilations", "rate"), name
    )


def separable_conv2d(
    input, depthwise_filter, pointwise_filter, strides, padding, rate=None, name=None, data_format=None, dilations=None
):
    return conv_ops.separable_conv2d(
        input,
        depthwise_filter,
        pointwise_filter,
        strides,
        padding,
        data_format,
        _one(dilations, rate, "dilations", "rate"),
        name,
    )


def convolution(
    input, filter, padding, strides=None, dilation_rate=None, name=None, data_format=None, filters=None, dilations=None
):
    return conv_ops.convolution(
        input,
        _one(filters, filter, "filters", "filter"),
        strides,
        padding,
        data_format,
        _one(dilations, dilation_rate, "dilations", "dilation_rate"),
        name,
    )


def max_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    return pool_ops.max_pool2d(_one(input, value, "input", "value"), ksize, strides, padding, data_format, name)


def avg_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    return pool_ops.avg_pool2d(_one(input, value, "input", "value"), ksize, strides, padding, data_format, name)


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    return norm_ops.moments(x, axes, shift, bool(_one(keepdims, keep_dims, "keepdims", "keep_dims")), name)


def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None):
    return norm_ops.weighted_moments(
        x, axes, frequency_weights, bool(_one(keepdims, keep_dims, "keepdims", "keep_dims")), name
    )


def batch_norm_with_global_normalization(
    t=None,
    m=None,
    v=None,
    beta=None,
    gamma=None,
    variance_epsilon=None,
    scale_after_normalization=None,
    name=None,
    input=None,
    mean=None,
    variance=None,
):
    return norm_ops.batch_norm_with_global_normalization(
        _one(input, t, "input", "t"),
        _one(mean, m, "mean", "m"),
        _one(variance, v, "variance", "v"),
        beta,
        gamma,
        variance_epsilon,
        scale_after_normalization,
        name,
    )


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    return norm_ops.l2_normalize(x, _one(axis, dim, "axis", "dim"), epsilon, name)


def _named_arguments(name, labels, logits):
    if labels is None or logits is None:
        # TensorFlow's texts differ by the function.
        where = f" for {name}" if name == "sigmoid_cross_entropy_with_logits" else ". "
        raise ValueError(
            f"Both `labels` and `logits` must be provided{where}Received: labels={labels} and logits={logits}"
        )


def softmax_cross_entropy_with_logits(labels=None, logits=None, dim=-1, name=None, axis=None):
    """Without a gradient for the labels."""
    _named_arguments("softmax_cross_entropy_with_logits", labels, logits)
    return nn_ops.softmax_cross_entropy_with_logits(
        array_ops.stop_gradient(labels), logits, dim if axis is None else axis, name
    )


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    axis = _one(axis, dim, "axis", "dim")
    return nn_ops.softmax_cross_entropy_with_logits(labels, logits, -1 if axis is None else axis, name)


def sparse_softmax_cross_entropy_with_logits(labels=None, logits=None, name=None):
    _named_arguments("sparse_softmax_cross_entropy_with_logits", labels, logits)
    return nn_ops.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    _named_arguments("sigmoid_cross_entropy_with_logits", labels, logits)
    return nn_ops.sigmoid_cross_entropy_with_logits(labels, logits, name)


def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None):
    return nn_ops.weighted_cross_entropy_with_logits(
        _one(labels, targets, "labels", "targets"), logits, pos_weight, name
    )


def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None):
    params = embedding_ops.parts_of(params)
    if isinstance(params, (list, tuple)) and len(params) > 1 and partition_strategy == "mod":
        return embedding_ops.from_parts(params, convert_to_tensor(ids, name="ids"), max_norm, embedding_ops.one_by_one)
    return embedding_ops.embedding_lookup(params, ids, max_norm, name)


def embedding_lookup_sparse(
    params,
    sp_ids,
    sp_weights,
    partition_strategy="mod",
    name=None,
    combiner=None,
    max_norm=None,
    allow_fast_lookup=False,
):
    return embedding_ops.embedding_lookup_sparse(
        params, sp_ids, sp_weights, combiner, max_norm, name, allow_fast_lookup
    )


def nce_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=False,
    partition_strategy="mod",
    name="nce_loss",
):
    return sampling_ops.nce_loss(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        name,
    )


def sampled_softmax_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=True,
    partition_strategy="mod",
    name="sampled_softmax_loss",
    seed=None,
):
    return sampling_ops.sampled_softmax_loss(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        seed,
        name,
    )


def relu_layer(x, weights, biases, name=None):
    """relu(x @ weights + biases)."""
    x = convert_to_tensor(x, name="x")
    return nn_ops.relu(nn_ops.bias_add(math_ops.matmul(x, weights), biases), name=name)


def xw_plus_b(x, weights, biases, name=None):
    """x @ weights + biases."""
    x = convert_to_tensor(x, name="x")
    return nn_ops.bias_add(math_ops.matmul(x, weights), biases, name=name)


def pool(
    input,
    window_shape,
    pooling_type,
    padding,
    dilation_rate=None,
    strides=None,
    name=None,
    data_format=None,
    dilations=None,
):
    dilations = _one(dilations, dilation_rate, "dilations", "dilation_rate")
    return pool_ops.pool(input, window_shape, pooling_type, strides, padding, data_format, dilations, name)


def conv2d_backprop_filter(
    input,
    filter_sizes,
    out_backprop,
    strides,
    padding,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=[1, 1, 1, 1],
    name=None,
):
    """The gradient of conv2d for its filters."""
    return raw.Conv2DBackpropFilter(
        input=input,
        filter_sizes=filter_sizes,
        out_backprop=out_backprop,
        strides=strides,
        data_format=data_format,
        dilations=dilations,
        name=name,
        **conv_ops._padding(padding),
    )


def conv2d_backprop_input(
    input_sizes,
    filter=None,
    out_backprop=None,
    strides=None,
    padding=None,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=[1, 1, 1, 1],
    name=None,
    filters=None,
):
    """The gradient of conv2d for its input."""
    return raw.Conv2DBackpropInput(
        input_sizes=input_sizes,
        filter=_one(filters, filter, "filters", "filter"),
        out_backprop=out_backprop,
        strides=strides,
        data_format=data_format,
        dilations=dilations,
        name=name,
        **conv_ops._padding(padding),
    )


def ctc_loss(
    labels,
    inputs=None,
    sequence_length=None,
    preprocess_collapse_repeated=False,
    ctc_merge_repeated=True,
    ignore_longer_outputs_than_inputs=False,
    time_major=True,
    logits=None,
):
    """The loss of sparse labels; the blank is the last class."""
    return ctc_ops.ctc_loss_of_op(
        labels,
        _one(logits, inputs, "logits", "inputs"),
        sequence_length,
        time_major,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )


ctc_loss_v2 = ctc_ops.ctc_loss


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1, merge_repeated=True):
    return ctc_ops.beam_search(inputs, sequence_length, beam_width, top_paths, merge_repeated)
