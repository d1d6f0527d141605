"""The refusals of convolutions and pools while a graph is built: known shapes, partly known ones, none at all."""

import tensorflow as tf
from calls import show

nn = tf.nn
x1, x2, x3 = [1, 6, 2], [1, 6, 6, 2], [1, 5, 5, 5, 2]
f1, f2, f3 = [3, 2, 4], [3, 3, 2, 4], [2, 2, 2, 2, 4]
t1, t2, t3 = [3, 4, 2], [3, 3, 4, 2], [2, 2, 2, 4, 2]
n2, free = [None, None, None, None], None


def conv(function, *shapes, **options):
    """The shape that a function of placeholders of these shapes gives, or how building it fails."""
    print(f"{function} {shapes} {options}")
    specs = [tf.TensorSpec(s) for s in shapes]

    def built():
        made = tf.function(lambda *a: getattr(nn, function)(*a, **options), autograph=False)
        return made.get_concrete_function(*specs).outputs[0].shape

    show(built)


for shapes in [
    (x1, f1), (x2, f2), (x3, f3), (x2[1:], f2), (x1, f2), (x2, f1), (x3, f2), ([6], f1), (x2, [3, 3]), (x2, [3, 3, 3, 4]),
    ([1, 6, 6, 3], f2), (x1, [3, 5, 4]), (x3, [2, 2, 2, 3, 4]), (n2, f2), (free, f2), (n2, n2), (x2, free), (free, free),
    ([1, 6, 6, None], f2), ([None, 6, None, 2], f2), ([1, 2, 2, 2], f2), ([1, 1, 6, 2], f2), (n2, [3, 3, None, 4]),
]:
    conv("convolution", *shapes)
for options in [
    dict(strides=2, dilations=2), dict(strides=[1, 2], dilations=[2, 1]), dict(strides=[2, 2, 2]), dict(strides=[]), dict(dilations=[1, 2, 3]),
    dict(strides=0), dict(strides=-1), dict(dilations=0), dict(padding="same"), dict(padding="FULL"), dict(padding=1),
    dict(padding=[[0, 0], [1, 1], [1, 1], [0, 0]]), dict(data_format="NWC"), dict(data_format="NCHW"), dict(data_format="abc"),
    dict(dilations=2), dict(dilations=2, padding="SAME"), dict(strides=[1, 2, 2, 1]),
]:
    conv("convolution", x2, f2, **options)
for options in [
    dict(strides=[1, 2, 2, 1]), dict(strides=[2, 2, 2]), dict(strides=[2, 1, 1, 1]), dict(strides=0), dict(dilations=[2, 1, 1, 1]),
    dict(dilations=0), dict(padding="abc"), dict(padding=[[1, 0], [1, 1], [1, 1], [0, 0]]), dict(padding=[[1, 1], [1, 1]]),
    dict(padding=[[0, 0], [1, 1], [1, 1], [0, 0]]), dict(padding="EXPLICIT"), dict(data_format="NCHW"), dict(data_format="nhwc"), dict(strides=2, dilations=2),
    dict(padding=[[0, 0], [-1, 1], [1, 1], [0, 0]]),
]:
    conv("conv2d", x2, f2, **{"strides": 1, "padding": "SAME", **options})
for shapes in [(x1, f2), (x2, f1), (x3, f2), ([1, 6, 6, 3], f2), ([1, 6, 6, 4], [3, 3, 2, 3]), ([1, 2, 2, 2], f2), (free, f2), (n2, n2), (x2, [3, 3, 0, 4])]:
    conv("conv2d", *shapes, strides=1, padding="VALID")
for shapes in [(x1, f1), (x2, f1), (x1[1:], f1), (x1, f2), (x1, [3, 5, 4]), ([None, None, None], f1), (free, f1)]:
    conv("conv1d", *shapes, stride=1, padding="SAME")
for options in [dict(stride=[1, 2]), dict(stride=0), dict(padding="same"), dict(data_format="NCHW"), dict(data_format="NCW"), dict(stride=2, dilations=2), dict(dilations=3)]:
    conv("conv1d", x1, f1, **{"stride": 1, "padding": "SAME", **options})
for options in [
    dict(strides=1), dict(strides=[1, 1, 1]), dict(strides=[2, 1, 1, 1, 1]), dict(dilations=[1, 2, 2, 2, 1]), dict(padding="full"),
    dict(data_format="NHWC"), dict(data_format="NCDHW"), dict(strides=[1, 0, 1, 1, 1]), dict(strides=[1, 2, 2, 2, 1], dilations=[1, 2, 2, 2, 1]),
]:
    conv("conv3d", x3, f3, **{"strides": [1] * 5, "padding": "SAME", **options})
for shapes in [(x2, f3), (x3, f2), (x3, [2, 2, 2, 3, 4]), (free, f3), ([1, 1, 5, 5, 2], f3)]:
    conv("conv3d", *shapes, strides=[1] * 5, padding="VALID")
for size in [[1, 12, 12, 4], [1, 12, 12, 5], [2, 12, 12, 4], [1, 20, 20, 4], [1, 12, 4]]:
    conv("conv2d_transpose", x2, t2, output_shape=size, strides=2)
conv("conv2d_transpose", x2, f2, output_shape=[1, 12, 12, 4], strides=2)
conv("conv2d_transpose", x1, t2, output_shape=[1, 12, 12, 4], strides=2)
conv("conv2d_transpose", x2, t2, output_shape=[1, 12, 12, 4], strides=2, padding="abc")
conv("conv2d_transpose", x2, t2, output_shape=[1, 12, 12, 4], strides=2, dilations=2)
conv("conv1d_transpose", x1, t1, output_shape=[1, 12, 4], strides=2)
conv("conv1d_transpose", x1, t1, output_shape=[1, 12, 3], strides=2)
conv("conv3d_transpose", x3, t3, output_shape=[1, 10, 10, 10, 4], strides=2)
conv("conv3d_transpose", x3, t3, output_shape=[1, 10, 10, 10, 5], strides=2)
conv("conv_transpose", x2, t2, output_shape=[1, 12], strides=2)
conv("atrous_conv2d", x2, f2, rate=2, padding="SAME")
conv("atrous_conv2d", n2, f2, rate=2, padding="VALID")
conv("atrous_conv2d", [1, 6, 6, 3], f2, rate=2, padding="SAME")
conv("atrous_conv2d", x1, f2, rate=2, padding="SAME")
for options in [
    dict(), dict(strides=[1, 1, 2, 1]), dict(strides=[1, 1]), dict(strides=[1, 2, 2, 1], dilations=[2, 2]), dict(dilations=[2, 2]), dict(padding="abc"),
    dict(data_format="abc"), dict(strides=1), dict(padding=[[0, 0], [1, 1], [1, 1], [0, 0]]), dict(data_format="NCHW"),
]:
    conv("depthwise_conv2d", x2, f2, **{"strides": [1] * 4, "padding": "SAME", **options})
for shapes in [(x2, [3, 3, 3, 4]), (x1, f2), (x2, f1), (n2, f2), (free, f2)]:
    conv("depthwise_conv2d", *shapes, strides=[1] * 4, padding="SAME")
for shapes in [(x2, f2, [1, 1, 8, 3]), (x2, f2, [1, 1, 7, 3]), (x2, f2, [2, 1, 8, 3]), (x2, f2, [1, 8, 3]), (n2, f2, n2)]:
    conv("separable_conv2d", *shapes, strides=[1] * 4, padding="SAME")
for name, shape in [("max_pool", x2), ("avg_pool", x2), ("max_pool", x1), ("avg_pool", x3), ("max_pool2d", x1), ("avg_pool1d", x2), ("max_pool3d", x2), ("max_pool", [2, 2]), ("avg_pool2d", free)]:
    for options in [dict(), dict(padding="abc"), dict(ksize=0), dict(strides=0), dict(ksize=9, padding="VALID"), dict(data_format="NWC"), dict(ksize=[2, 2, 2, 2, 2, 2])]:
        conv(name, shape, **{"ksize": 2, "strides": 2, "padding": "SAME", **options})
for options in [dict(), dict(dilations=[2, 2]), dict(strides=[2, 2], dilations=[2, 2]), dict(pooling_type="SUM"), dict(padding="abc")]:
    conv("pool", x2, **{"window_shape": [2, 2], "pooling_type": "MAX", **options})
conv("pool", free, window_shape=[2, 2], pooling_type="MAX")
conv("pool", x2, window_shape=[2], pooling_type="MAX")
conv("dilation2d", x2, [3, 3, 2], strides=[1] * 4, padding="SAME", data_format="NHWC", dilations=[1] * 4)
conv("dilation2d", x2, [3, 3, 3], strides=[1] * 4, padding="SAME", data_format="NHWC", dilations=[1] * 4)
