"""Transposed, atrous, depthwise and separable convolutions, dilations and pools with what they refuse."""

import tensorflow as tf
from calls import tell

nn, v1 = tf.nn, tf.compat.v1.nn
x1, x2, x3 = tf.ones([1, 6, 2]), tf.ones([1, 6, 6, 2]), tf.ones([1, 5, 5, 5, 2])
f1, f2, f3 = tf.ones([3, 2, 4]), tf.ones([3, 3, 2, 4]), tf.ones([2, 2, 2, 2, 4])
t1, t2, t3 = tf.ones([3, 4, 2]), tf.ones([3, 3, 4, 2]), tf.ones([2, 2, 2, 4, 2])
point = tf.ones([1, 1, 8, 3])

tell(
    """
    nn.conv1d_transpose(x1, t1, [1, 12, 4], 2).shape
    nn.conv1d_transpose(x1, t1, [1, 11, 4], 2).shape
    nn.conv1d_transpose(x1, t1, [1, 15, 4], 2)
    nn.conv1d_transpose(x1, f1, [1, 12, 2], 2)
    nn.conv1d_transpose(x1, t1, [12, 4], 2)
    nn.conv1d_transpose(x1, t1, [1, 12, 4], 2, padding="full")
    nn.conv1d_transpose(x1, t1, [1, 12, 4], 2, data_format="NHWC")
    nn.conv1d_transpose(x1, t1, [1, 12, 3], 2)
    nn.conv2d_transpose(x2, t2, [1, 12, 12, 4], 2).shape
    nn.conv2d_transpose(x2, t2, [1, 12, 12, 4], [1, 2, 2, 1]).shape
    nn.conv2d_transpose(x2, t2, [1, 12, 12, 4], [2, 2, 2])
    nn.conv2d_transpose(x2, t2, [1, 12, 12, 4], 0)
    nn.conv2d_transpose(x2, f2, [1, 12, 12, 4], 2)
    nn.conv2d_transpose(x2, t2, [1, 12, 12, 5], 2)
    nn.conv2d_transpose(x2, t2, [2, 12, 12, 4], 2)
    nn.conv2d_transpose(x2, t2, [1, 20, 20, 4], 2)
    nn.conv2d_transpose(x2, t2, [1, 12, 4], 2)
    nn.conv2d_transpose(x2, t2, [1, 12, 12, 4], 2, padding="abc")
    nn.conv2d_transpose(x2, t2, [1, 12, 12, 4], 2, padding="VALID")
    nn.conv2d_transpose(x2, t2, [1, 13, 13, 4], 2, padding="VALID").shape
    nn.conv2d_transpose(x2, t2, [1, 12, 12, 4], 2, data_format="NWC")
    nn.conv2d_transpose(x1, t2, [1, 12, 12, 4], 2)
    nn.conv3d_transpose(x3, t3, [1, 10, 10, 10, 4], 2).shape
    nn.conv3d_transpose(x3, t3, [1, 10, 10, 10, 5], 2)
    nn.conv3d_transpose(x3, t3, [1, 10, 10, 10, 4], [2, 2])
    nn.conv3d_transpose(x3, t3, [1, 10, 10, 4], 2)
    nn.conv3d_transpose(x3, t3, [1, 10, 10, 10, 4], 2, padding="xyz")
    nn.conv3d_transpose(x3, t3, [1, 10, 10, 10, 4], 2, data_format="NHWC")
    nn.conv_transpose(x1, t1, [1, 12, 4], 2).shape
    nn.conv_transpose(x2, t2, [1, 12, 12, 4], 2).shape
    nn.conv_transpose(x3, t3, [1, 10, 10, 10, 4], 2).shape
    nn.conv_transpose(tf.ones([2, 2]), t2, [1, 12], 2)
    nn.conv_transpose(x2, t2, [12], 2)
    nn.conv_transpose(x2, t2, 5, 2)
    nn.atrous_conv2d(x2, f2, 2, "SAME").shape
    nn.atrous_conv2d(x2, f2, 1, "VALID").shape
    nn.atrous_conv2d(x2, f2, 0, "VALID")
    nn.atrous_conv2d(x2, f2, 2, "abc")
    nn.atrous_conv2d(x1, f2, 2, "SAME")
    nn.atrous_conv2d(tf.ones([1, 6, 6, 3]), f2, 2, "SAME")
    nn.atrous_conv2d_transpose(x2, t2, [1, 6, 6, 4], 2, "SAME").shape
    nn.atrous_conv2d_transpose(x2, t2, [1, 6, 6, 5], 2, "SAME")
    nn.atrous_conv2d_transpose(x2, t2, [1, 6, 6, 4], 0, "SAME")
    nn.atrous_conv2d_transpose(x2, t2, [1, 6, 6, 4], 2, "same")
    nn.atrous_conv2d_transpose(x2, f2, [1, 6, 6, 4], 2, "SAME")
    nn.atrous_conv2d_transpose(x2, t2, [6, 6, 4], 2, "SAME")
    nn.depthwise_conv2d(x2, f2, [1, 1, 1, 1], "SAME").shape
    nn.depthwise_conv2d(x2, f2, [1, 2, 2, 1], "SAME").shape
    nn.depthwise_conv2d(x2, f2, 1, "SAME")
    nn.depthwise_conv2d(x2, f2, [1, 1], "SAME")
    nn.depthwise_conv2d(x2, f2, [1, 2, 2, 1], "SAME", dilations=[2, 2])
    nn.depthwise_conv2d(x2, f2, [1, 1, 1, 1], "SAME", dilations=[2, 2]).shape
    nn.depthwise_conv2d(x2, f2, [1, 1, 1, 1], "SAME", dilations=2)
    nn.depthwise_conv2d(x2, f2, [1, 1, 1, 1], "abc")
    nn.depthwise_conv2d(x2, f2, [1, 1, 1, 1], "SAME", data_format="abc")
    nn.depthwise_conv2d(x2, tf.ones([3, 3, 3, 4]), [1, 1, 1, 1], "SAME")
    nn.depthwise_conv2d(x1, f2, [1, 1, 1, 1], "SAME")
    nn.depthwise_conv2d(x2, f1, [1, 1, 1, 1], "SAME")
    nn.depthwise_conv2d(x2, f2, [1, 1, 1, 1], [[0, 0], [1, 1], [1, 1], [0, 0]]).shape
    nn.separable_conv2d(x2, f2, point, [1, 1, 1, 1], "SAME").shape
    nn.separable_conv2d(x2, f2, tf.ones([1, 1, 7, 3]), [1, 1, 1, 1], "SAME")
    nn.separable_conv2d(x2, f2, tf.ones([2, 1, 8, 3]), [1, 1, 1, 1], "SAME")
    nn.separable_conv2d(x2, f2, tf.ones([1, 8, 3]), [1, 1, 1, 1], "SAME")
    nn.separable_conv2d(x2, f2, point, [1, 2, 2, 1], "SAME", dilations=[2, 2])
    nn.separable_conv2d(x2, f2, point, 1, "SAME")
    nn.max_pool(x2, 2, 2, "SAME").shape
    nn.max_pool(x1, 2, 2, "SAME").shape
    nn.max_pool(x3, 2, 2, "SAME").shape
    nn.max_pool(tf.ones([2, 2]), 2, 2, "SAME")
    nn.max_pool(x2, 2, 2, "abc")
    nn.max_pool(x2, [2, 2, 2], 2, "SAME")
    nn.max_pool(x2, 0, 2, "SAME")
    nn.max_pool(x2, 2, 0, "SAME")
    nn.max_pool(x2, 7, 1, "VALID")
    nn.max_pool(x2, [1, 2, 2, 2], 1, "SAME")
    nn.max_pool(x2, 2, 2, "SAME", data_format="NWC")
    nn.max_pool(x2, 2, 2, [[0, 0], [1, 1], [1, 1], [0, 0]]).shape
    nn.max_pool2d(x2, 2, 2, [[0, 0], [1, 1], [1, 1], [0, 0]]).shape
    nn.max_pool2d(x2, 2, 2, [[0, 0], [2, 1], [1, 1], [0, 0]])
    nn.max_pool2d(x1, 2, 2, "SAME")
    nn.max_pool1d(x1, 2, 2, "SAME").shape
    nn.max_pool1d(x2, 2, 2, "SAME")
    nn.max_pool1d(x1, 2, 2, [[0, 0], [1, 1], [0, 0]])
    nn.max_pool3d(x3, 2, 2, "SAME").shape
    nn.max_pool3d(x2, 2, 2, "SAME")
    nn.avg_pool(x2, 2, 2, "SAME").shape
    nn.avg_pool(x2, 2, 2, "EXPLICIT")
    nn.avg_pool(tf.ones([2]), 2, 2, "SAME")
    nn.avg_pool1d(x1, 2, 2, "SAME").shape
    nn.avg_pool1d(x2, 2, 2, "SAME")
    nn.avg_pool2d(x1, 2, 2, "SAME")
    nn.avg_pool3d(x3, 2, 2, "VALID").shape
    nn.avg_pool3d(x3, 2, 2, "VALID", data_format="NHWC")
    nn.max_pool_with_argmax(x2, 2, 2, "SAME").output.shape
    nn.max_pool_with_argmax(x2, 2, 2, "SAME", data_format="NCHW")
    nn.max_pool_with_argmax(x1, 2, 2, "SAME")
    nn.pool(x2, [2, 2], "MAX").shape
    nn.pool(x2, [2, 2], "MAX", dilations=[2, 2]).shape
    nn.pool(x2, [2, 2], "MAX", strides=[2, 2], dilations=[2, 2])
    nn.pool(x2, [2, 2], "SUM")
    nn.pool(x2, [2], "MAX")
    nn.pool(x2, [2, 2], "AVG", padding="abc")
    nn.pool(x2, [2, 2], "AVG", data_format="NWC")
    nn.pool(x1, [2], "AVG", strides=[2], padding="SAME").shape
    nn.dilation2d(x2, tf.ones([3, 3, 2]), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]).shape
    nn.dilation2d(x2, tf.ones([3, 3, 2]), [1, 1, 1, 1], "SAME", "NCHW", [1, 1, 1, 1])
    nn.dilation2d(x2, tf.ones([3, 3, 3]), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1])
    nn.erosion2d(x2, tf.ones([3, 3, 2]), [1, 1, 1, 1], "SAME", "NCHW", [1, 1, 1, 1])
    nn.fractional_max_pool(x2, [1.0, 1.4, 1.4, 1.0], seed=1).output.shape
    nn.fractional_max_pool(x2, [1.0, 0.5, 1.4, 1.0], seed=1)
    nn.with_space_to_batch(x2, [2, 2], "SAME", lambda i, num_spatial_dims, padding: i, [3, 3]).shape
    nn.with_space_to_batch(x2, [0, 2], "SAME", lambda i, num_spatial_dims, padding: i, [3, 3])
    v1.conv2d_backprop_input([1, 6, 6, 2], f2, tf.ones([1, 6, 6, 4]), [1, 1, 1, 1], "SAME").shape
    v1.conv2d_backprop_filter(x2, [3, 3, 2, 4], tf.ones([1, 6, 6, 4]), [1, 1, 1, 1], "SAME").shape
    v1.conv2d_transpose(x2, t2, [1, 12, 12, 4], 2).shape
    v1.depthwise_conv2d(x2, f2, [1, 1, 1, 1], "SAME", rate=[2, 2]).shape
    v1.separable_conv2d(x2, f2, point, [1, 1, 1, 1], "SAME").shape
    v1.max_pool(x2, [1, 2, 2, 1], [1, 2, 2, 1], "SAME").shape
    v1.max_pool(x2, 2, 2, "abc")
    v1.pool(x2, [2, 2], "MAX", "SAME").shape
    v1.avg_pool(x2, 2, 2, "abc")
    """.replace("nn.with_space_to_batch", "v1.with_space_to_batch"),
    globals(),
)
