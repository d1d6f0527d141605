# Convolutions on batches that are cut over devices; the parameters are the same everywhere.
import tensorflow as tf
from tensorflow.experimental import dtensor

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 4
)
U = dtensor.UNSHARDED
mesh = dtensor.create_mesh([("batch", 4)], devices=[f"CPU:{i}" for i in range(4)])


def copied(value, *specs):
    return dtensor.copy_to_mesh(value, dtensor.Layout(list(specs), mesh))


def whole(shape, scale):
    count = 1
    for n in shape:
        count *= n
    value = tf.reshape(tf.cos(tf.range(count, dtype=tf.float32) * scale), shape) * 0.3
    return dtensor.DVariable(copied(value, *[U] * len(shape)))


filters, bias, dense = whole((3, 3, 1, 4), 0.7), whole((4,), 0.0), whole((4 * 4 * 4, 3), 1.9)
images = copied(tf.reshape(tf.sin(tf.range(8 * 8 * 8, dtype=tf.float32)), (8, 8, 8, 1)), "batch", U, U, U)
labels = copied(tf.range(8) % 3, "batch")


def model(x):
    x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, filters, 1, "SAME"), bias))
    x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    return tf.matmul(tf.reshape(x, (8, -1)), dense)


features = tf.nn.conv2d(images, filters, strides=2, padding="SAME")
print(dtensor.fetch_layout(features).sharding_specs, features.shape, dtensor.unpack(features)[1].shape)
print(dtensor.fetch_layout(tf.nn.avg_pool2d(images, 2, 2, "SAME")).sharding_specs)
logits = model(images)
print(dtensor.fetch_layout(logits).sharding_specs)
print(dtensor.relayout(logits, dtensor.Layout([U, U], mesh)).numpy().round(3))


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=model(images)))
    gradients = tape.gradient(loss, [filters, bias, dense])
    for v, g in zip([filters, bias, dense], gradients):
        v.assign_sub(g * 0.05)
    return loss, *gradients


for _ in range(4):
    loss, *gradients = step()
    print(f"{float(loss):.4f}", [dtensor.fetch_layout(g).sharding_specs for g in gradients])
print(bias.numpy().round(4), f"{float(tf.reduce_sum(filters)):.4f}")
