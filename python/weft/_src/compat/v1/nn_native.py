"""tf.compat.v1.nn: functions that are one op, under version 1's names and with its arguments."""

from weft._src.framework import dtypes
from weft._src.raw import raw
from weft._src.compat.v1.old_ops import _one
from weft._src.ops import pool_ops
from weft._src.ops._direct import define

define(
    globals(),
    """
conv3d_backprop_filter Conv3DBackpropFilterV2 input, filter_sizes, out_backprop, strides, padding, data_format='NDHWC', dilations=[1,1,1,1,1]
conv3d_backprop_filter_v2 Conv3DBackpropFilterV2 input, filter_sizes, out_backprop, strides, padding, data_format='NDHWC', dilations=[1,1,1,1,1]
depthwise_conv2d_native input, filter, strides, padding, data_format='NHWC', dilations=[1,1,1,1]
depthwise_conv2d_native_backprop_filter input, filter_sizes, out_backprop, strides, padding, data_format='NHWC', dilations=[1,1,1,1]
depthwise_conv2d_native_backprop_input input_sizes, filter, out_backprop, strides, padding, data_format='NHWC', dilations=[1,1,1,1]
quantized_avg_pool input, min_input, max_input, ksize, strides, padding
quantized_conv2d QuantizedConv2D input, filter, min_input, max_input, min_filter, max_filter, strides, padding, out_type=dtypes.qint32, dilations=[1,1,1,1]
quantized_max_pool input, min_input, max_input, ksize, strides, padding
quantized_relu_x features, max_value, min_features, max_features, out_type=dtypes.quint8
""",
)


def dilation2d(input, filter=None, strides=None, rates=None, padding=None, name=None, filters=None, dilations=None):  # noqa: A002
    """The greatest of input + filter over a window."""
    return raw.Dilation2D(
        input=input,
        filter=_one("filters", filters, "filter", filter),
        strides=strides,
        rates=_one("dilations", dilations, "rates", rates),
        padding=padding,
        name=name,
    )


def erosion2d(value, kernel, strides, rates, padding, name=None):
    """The least of input - kernel over a window."""
    from weft._src.ops.conv_ops import erosion2d as erode

    return erode(value, kernel, strides, padding, "NHWC", rates, name)


def _fractional(op, value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, name):
    return op(
        value=value,
        pooling_ratio=pooling_ratio,
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=deterministic,
        seed=seed,
        seed2=seed2,
        name=name,
    )


def fractional_avg_pool(
    value, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0, name=None
):
    """Means of windows whose sizes vary by chance."""
    return _fractional(
        raw.FractionalAvgPool, value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, name
    )


def fractional_max_pool(
    value, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0, name=None
):
    """The greatest of windows whose sizes vary by chance."""
    return _fractional(
        raw.FractionalMaxPool, value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, name
    )


def max_pool_with_argmax(
    input,  # noqa: A002
    ksize,
    strides,
    padding,
    data_format="NHWC",
    Targmax=None,
    name=None,
    output_dtype=None,
    include_batch_in_index=False,
):
    """The greatest of each window, and where it is."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported. Received: {data_format}")
    output_dtype = _one("output_dtype", output_dtype, "Targmax", Targmax)
    return pool_ops.max_pool_with_argmax(
        input,
        ksize,
        strides,
        padding,
        data_format,
        dtypes.int64 if output_dtype is None else output_dtype,
        include_batch_in_index,
        name,
    )
