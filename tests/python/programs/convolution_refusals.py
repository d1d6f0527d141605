"""Convolutions and pools that TensorFlow refuses: ranks, channels, strides, dilations, paddings, formats; eagerly."""

import tensorflow as tf
from calls import tell

nn, v1 = tf.nn, tf.compat.v1.nn
x1, x2, x3 = tf.ones([1, 6, 2]), tf.ones([1, 6, 6, 2]), tf.ones([1, 5, 5, 5, 2])
f1, f2, f3 = tf.ones([3, 2, 4]), tf.ones([3, 3, 2, 4]), tf.ones([2, 2, 2, 2, 4])

tell(
    """
    nn.convolution(x1, f1).shape
    nn.convolution(x2, f2, padding="SAME").shape
    nn.convolution(x3, f3, strides=2).shape
    nn.convolution(x2, f2, dilations=2).shape
    nn.convolution(x2, f2, dilations=[2, 1]).shape
    nn.convolution(x2, f2, strides=[2], padding="SAME").shape
    nn.convolution(x2[0], f2)
    nn.convolution(x1, f2)
    nn.convolution(x2, f1)
    nn.convolution(x3, f2).shape
    nn.convolution(tf.ones([6]), f1)
    nn.convolution(x2, tf.ones([3, 3]))
    nn.convolution(x2, tf.ones([3, 3, 3, 4]))
    nn.convolution(tf.ones([1, 6, 6, 4]), f2).shape
    nn.convolution(tf.ones([1, 6, 6, 3]), f2)
    nn.convolution(x1, tf.ones([3, 5, 4]))
    nn.convolution(x3, tf.ones([2, 2, 2, 3, 4]))
    nn.convolution(x2, f2, strides=2, dilations=2)
    nn.convolution(x2, f2, strides=[1, 2], dilations=[2, 1])
    nn.convolution(x2, f2, strides=[2, 2, 2])
    nn.convolution(x2, f2, strides=[])
    nn.convolution(x2, f2, dilations=[1, 2, 3])
    nn.convolution(x2, f2, strides=0)
    nn.convolution(x2, f2, strides=-1)
    nn.convolution(x2, f2, dilations=0)
    nn.convolution(x2, f2, dilations=-1)
    nn.convolution(x2, f2, strides="a")
    nn.convolution(x2, f2, strides=1.5)
    nn.convolution(x2, f2, padding="same").shape
    nn.convolution(x2, f2, padding="FULL")
    nn.convolution(x2, f2, padding=1)
    nn.convolution(x2, f2, padding=[[1, 1], [1, 1]])
    nn.convolution(x2, f2, padding=[[0, 0], [1, 1], [1, 1], [0, 0]]).shape
    nn.convolution(x2, f2, data_format="NWC")
    nn.convolution(x2, f2, data_format="NHWC").shape
    nn.convolution(x2, f2, data_format="abc")
    nn.convolution(x1, f1, data_format="NHWC")
    nn.convolution(x1, f1, data_format="NWC").shape
    nn.convolution(x3, f3, data_format="NDHWC").shape
    nn.convolution(x3, f3, data_format="NCDHW")
    nn.convolution(tf.ones([1, 2, 2, 2]), f2)
    nn.convolution(tf.ones([1, 0, 0, 2]), f2, padding="SAME").shape
    nn.convolution(x2, tf.cast(f2, tf.float64))
    nn.convolution(tf.cast(x2, tf.int32), tf.cast(f2, tf.int32)).shape
    nn.convolution(tf.constant([["a"]]), f2)
    nn.convolution(tf.ones([2, 3, 1, 6, 6, 2]), f2).shape
    nn.convolution(tf.ones([2, 3, 6, 2]), f1).shape
    v1.convolution(x2, f2, "VALID").shape
    v1.convolution(x2, f2, "valid").shape
    v1.convolution(x2, f2, "SAME", strides=[2, 2], dilation_rate=[2, 2])
    v1.convolution(x2, f2, "SAME", dilation_rate=[2, 3]).shape
    v1.convolution(x1, f2, "SAME")
    nn.conv1d(x1, f1, 1, "SAME").shape
    nn.conv1d(x1, f1, [1, 2, 1], "SAME").shape
    nn.conv1d(x1, f1, [2], "SAME").shape
    nn.conv1d(x1, f1, [1, 2], "SAME")
    nn.conv1d(x1, f1, 0, "SAME")
    nn.conv1d(x1, f1, -1, "SAME")
    nn.conv1d(x1, f1, 1, "same")
    nn.conv1d(x1, f1, 2, "SAME", dilations=2)
    nn.conv1d(x1, f1, 1, "SAME", dilations=3).shape
    nn.conv1d(x2, f1, 1, "SAME").shape
    nn.conv1d(x1[0], f1, 1, "SAME")
    nn.conv1d(x1, f2, 1, "SAME")
    nn.conv1d(x1, tf.ones([3, 5, 4]), 1, "SAME")
    nn.conv2d(x2, f2, 1, "VALID").shape
    nn.conv2d(x2, f2, [1, 2, 2, 1], "VALID").shape
    nn.conv2d(x2, f2, [2, 2], "VALID").shape
    nn.conv2d(x2, f2, [2, 2, 2], "VALID")
    nn.conv2d(x2, f2, [2, 1, 1, 1], "VALID")
    nn.conv2d(x2, f2, [1, 1, 1, 2], "VALID")
    nn.conv2d(x2, f2, 0, "VALID")
    nn.conv2d(x2, f2, 1, "valid")
    nn.conv2d(x2, f2, 1, "EXPLICIT")
    nn.conv2d(x2, f2, 1, [[0, 0], [1, 1], [1, 1], [0, 0]]).shape
    nn.conv2d(x2, f2, 1, [[1, 1], [1, 1]])
    nn.conv2d(x2, f2, 1, [[1, 0], [1, 1], [1, 1], [0, 0]])
    nn.conv2d(x2, f2, 1, [[0, 0], [-1, 1], [1, 1], [0, 0]])
    nn.conv2d(x2, f2, 1, [[0, 0], [1, 1, 1], [1, 1], [0, 0]])
    nn.conv2d(x2, f2, 1, "SAME", data_format="NWC")
    nn.conv2d(x2, f2, 1, "SAME", data_format="nhwc")
    nn.conv2d(x2, f2, 2, "SAME", dilations=2).shape
    nn.conv2d(x2, f2, 1, "SAME", dilations=[2, 1, 1, 1])
    nn.conv2d(x2, f2, 1, "SAME", dilations=[1, 2, 2, 1]).shape
    nn.conv2d(x2, f2, 1, "SAME", dilations=[1, 2, 2, 2])
    nn.conv2d(x2, f2, 1, "SAME", dilations=0)
    nn.conv2d(x2, f2, 1, "SAME", dilations=[1, 2, 3])
    nn.conv2d(x1, f2, 1, "SAME")
    nn.conv2d(x2, f1, 1, "SAME")
    nn.conv2d(x3, f2, 1, "SAME").shape
    nn.conv2d(tf.ones([1, 6, 6, 3]), f2, 1, "SAME")
    nn.conv2d(tf.ones([1, 6, 6, 4]), tf.ones([3, 3, 2, 3]), 1, "SAME")
    nn.conv2d(tf.ones([1, 2, 2, 2]), f2, 1, "VALID")
    nn.conv2d(x2, tf.ones([0, 3, 2, 4]), 1, "SAME")
    nn.conv2d(x2, tf.ones([3, 3, 0, 4]), 1, "SAME")
    nn.conv2d("a", f2, 1, "SAME")
    nn.conv2d(x2, f2)
    nn.conv3d(x3, f3, [1, 1, 1, 1, 1], "SAME").shape
    nn.conv3d(x3, f3, 1, "SAME")
    nn.conv3d(x3, f3, [1, 1, 1], "SAME")
    nn.conv3d(x3, f3, [2, 1, 1, 1, 1], "SAME")
    nn.conv3d(x3, f3, [1, 1, 1, 1, 1], "full")
    nn.conv3d(x3, f3, [1, 1, 1, 1, 1], "SAME", data_format="NHWC")
    nn.conv3d(x2, f3, [1, 1, 1, 1, 1], "SAME")
    nn.conv3d(x3, tf.ones([2, 2, 2, 3, 4]), [1, 1, 1, 1, 1], "SAME")
    nn.conv3d(x3, f3, [1, 0, 1, 1, 1], "SAME")
    """,
    globals(),
)
