"""An image pipeline with datasets: make, encode, decode, augment, batch."""
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()
for i in range(4):
    pixels = tf.cast(tf.reshape(tf.range(6 * 8 * 3) * (i + 1) % 256, [6, 8, 3]), tf.uint8)
    tf.io.write_file(os.path.join(folder, f"{'cat' if i % 2 else 'dog'}_{i}.png"), tf.io.encode_png(pixels))
files = tf.data.Dataset.list_files(os.path.join(folder, "*.png"), shuffle=False)


def label_of(path):
    return tf.strings.split(tf.strings.split(path, os.sep)[-1], "_")[0] == "cat"


def load(path):
    image = tf.io.decode_png(tf.io.read_file(path), channels=3)
    image = tf.image.convert_image_dtype(image, tf.float32)
    return tf.image.resize(image, [4, 4]), label_of(path)


ds = files.map(load, num_parallel_calls=tf.data.AUTOTUNE)
print(ds.element_spec)
for image, label in ds:
    print(image.shape, label.numpy(), f"{tf.reduce_mean(image).numpy():.5f}")
flipped = ds.map(lambda i, l: (tf.image.flip_left_right(i), l))
for a, b in zip(ds.take(1), flipped.take(1)):
    print(tf.reduce_all(a[0] == tf.reverse(b[0], [1])).numpy())
batch, labels = next(iter(ds.batch(4)))
print(batch.shape, labels.numpy(), tf.reduce_mean(batch, axis=[0, 1, 2]).numpy())
gray = tf.image.rgb_to_grayscale(batch)
print(gray.shape, gray[0, :, :, 0])
crops = tf.image.central_crop(batch, 0.5)
print(crops.shape, tf.image.adjust_brightness(crops, 0.1)[0, 0, 0].numpy())
mean, var = tf.nn.moments(batch, [0, 1, 2])
print(mean.numpy(), var.numpy())
print(tf.image.per_image_standardization(batch)[0, 0, 0].numpy())
