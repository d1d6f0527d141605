"""Convolutions and pooling in all forms: paddings, strides, dilations, depthwise, transposed, 1-D, 3-D, gradients."""
import tensorflow as tf

image = tf.reshape(tf.range(25.0), [1, 5, 5, 1])
kernel = tf.reshape(tf.constant([1.0, 0.0, -1.0, 2.0, 0.0, -2.0, 1.0, 0.0, -1.0]), [3, 3, 1, 1])


def show(name, t):
    print(name, t.shape, tf.reduce_sum(t).numpy(), tf.reshape(t, [-1])[:6].numpy())


show("valid", tf.nn.conv2d(image, kernel, strides=1, padding="VALID"))
show("same", tf.nn.conv2d(image, kernel, strides=[1, 1, 1, 1], padding="SAME"))
show("stride", tf.nn.conv2d(image, kernel, strides=2, padding="SAME"))
show("explicit", tf.nn.conv2d(image, kernel, 1, [[0, 0], [2, 0], [1, 1], [0, 0]]))
show("dilated", tf.nn.conv2d(image, kernel, 1, "VALID", dilations=2))
show("convolution", tf.nn.convolution(image, kernel, padding="SAME"))
show("atrous", tf.nn.atrous_conv2d(image, kernel, rate=2, padding="SAME"))
two = tf.concat([image, image * 0.5], -1)
show("depthwise", tf.nn.depthwise_conv2d(two, tf.tile(kernel, [1, 1, 2, 1]), [1, 1, 1, 1], "VALID"))
show("separable", tf.nn.separable_conv2d(two, tf.tile(kernel, [1, 1, 2, 1]), tf.ones([1, 1, 2, 3]), [1, 1, 1, 1],
                                         "VALID"))
show("transpose", tf.nn.conv2d_transpose(image, kernel, [1, 10, 10, 1], 2, "SAME"))
show("conv1d", tf.nn.conv1d(tf.reshape(tf.range(8.0), [1, 8, 1]), tf.ones([3, 1, 2]), 1, "SAME"))
show("conv3d", tf.nn.conv3d(tf.reshape(tf.range(27.0), [1, 3, 3, 3, 1]), tf.ones([2, 2, 2, 1, 1]), [1, 1, 1, 1, 1],
                            "VALID"))
show("max", tf.nn.max_pool2d(image, 2, 2, "VALID"))
show("max same", tf.nn.max_pool(image, ksize=3, strides=2, padding="SAME"))
show("avg", tf.nn.avg_pool2d(image, [2, 3], [1, 2], "SAME"))
show("avg1d", tf.nn.avg_pool1d(tf.reshape(tf.range(6.0), [1, 6, 1]), 2, 2, "VALID"))
show("max3d", tf.nn.max_pool3d(tf.reshape(tf.range(27.0), [1, 3, 3, 3, 1]), 2, 1, "VALID"))
show("pool", tf.nn.pool(image, [2, 2], "AVG", strides=[2, 2], padding="VALID"))
out, index = tf.nn.max_pool_with_argmax(image, 2, 2, "VALID")
print(out[0, ..., 0].numpy(), index[0, ..., 0].numpy())
show("dilation2d", tf.nn.dilation2d(image, tf.zeros([2, 2, 1]), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]))
show("space_to_depth", tf.nn.space_to_depth(image[:, :4, :4], 2))
show("depth_to_space", tf.nn.depth_to_space(tf.reshape(tf.range(16.0), [1, 2, 2, 4]), 2))
show("space_to_batch", tf.space_to_batch(image[:, :4, :4], [2, 2], [[0, 0], [0, 0]]))
show("patches", tf.image.extract_patches(image, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"))
with tf.GradientTape() as tape:
    tape.watch([image, kernel])
    y = tf.reduce_sum(tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(image, kernel, 1, "SAME")), 2, 2, "SAME") ** 2) / 100.0
gi, gk = tape.gradient(y, [image, kernel])
print(gi[0, ..., 0].numpy())
print(gk[..., 0, 0].numpy())
for bad in (lambda: tf.nn.conv2d(image, tf.ones([3, 3, 2, 1]), 1, "SAME"),
            lambda: tf.nn.max_pool2d(image, 9, 1, "VALID")):
    try:
        print(bad().shape)
    except Exception as e:
        print(type(e).__name__, e)
