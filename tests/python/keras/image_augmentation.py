"""Preprocessing of images: sizes, random changes with seeds, in models and in tf.data; files in folders."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers

rng = np.random.RandomState(10)
images = rng.rand(4, 10, 12, 3).astype("float32")


def shown(layer, *args, **kwargs):
    out = layer(images, *args, **kwargs)
    print(type(layer).__name__, out.shape, f"{float(tf.reduce_mean(out)):.5f} {float(tf.math.reduce_std(out)):.5f}")


shown(layers.Resizing(5, 6))
shown(layers.Resizing(5, 5, interpolation="nearest", crop_to_aspect_ratio=True))
shown(layers.CenterCrop(6, 6))
shown(layers.Rescaling(2.0, offset=-1.0))
for layer in [
    layers.RandomFlip(seed=1),
    layers.RandomRotation(0.2, seed=1),
    layers.RandomZoom(0.3, fill_mode="nearest", seed=1),
    layers.RandomTranslation(0.2, 0.1, fill_mode="wrap", seed=1),
    layers.RandomCrop(6, 6, seed=1),
    layers.RandomContrast(0.4, value_range=(0, 1), seed=1),
    layers.RandomBrightness(0.3, value_range=(0, 1), seed=1),
    layers.RandomHue(0.2, value_range=(0, 1), seed=1),
    layers.RandomSaturation(0.6, value_range=(0, 1), seed=1),
    layers.RandomGrayscale(0.5, seed=1),
    layers.RandomShear(0.2, 0.2, seed=1),
    layers.RandomErasing(value_range=(0, 1), seed=1),
    layers.RandomSharpness(0.5, value_range=(0, 1), seed=1),
    layers.RandomPerspective(seed=1),
    layers.RandomGaussianBlur(value_range=(0, 1), seed=1),
    layers.RandomInvert(value_range=(0, 1), seed=1),
    layers.Solarization(value_range=(0, 1), seed=1),
    layers.AutoContrast(value_range=(0, 1)),
    layers.Equalization(value_range=(0, 1)),
]:
    shown(layer, training=True)
print(np.array_equal(layers.RandomFlip(seed=1)(images, training=False), images))
mixed = layers.MixUp(seed=3)({"images": images, "labels": np.eye(4, dtype="float32")}, training=True)
print(mixed["images"].shape, np.round(mixed["labels"].numpy().sum(1), 4))
cut = layers.CutMix(seed=3)({"images": images, "labels": np.eye(4, dtype="float32")}, training=True)
print(cut["images"].shape, np.round(cut["labels"].numpy().sum(1), 4))

augment = keras.Sequential([layers.RandomFlip("horizontal", seed=4), layers.RandomRotation(0.1, seed=5)])
data = tf.data.Dataset.from_tensor_slices(images).batch(2).map(lambda v: augment(v, training=True))
print([f"{float(tf.reduce_mean(batch)):.5f}" for batch in data])

keras.utils.set_random_seed(2)
model = keras.Sequential(
    [keras.Input((10, 12, 3)), augment, layers.Conv2D(4, 3), layers.GlobalAveragePooling2D(), layers.Dense(1)]
)
model.compile("sgd", "mse")
print([f"{v:.5f}" for v in model.fit(images, np.arange(4.0), epochs=3, shuffle=False, verbose=0).history["loss"]])
print(np.round(model.predict(images, verbose=0).ravel(), 5))

folder = tempfile.mkdtemp()
for name in ("cats", "dogs"):
    os.makedirs(os.path.join(folder, name))
    for k in range(3):
        picture = np.full((6, 8, 3), 40 * k + 100 * (name == "dogs"), "uint8")
        tf.io.write_file(os.path.join(folder, name, f"{k}.png"), tf.io.encode_png(picture))
files = keras.utils.image_dataset_from_directory(
    folder, image_size=(4, 4), batch_size=4, shuffle=False, label_mode="categorical", verbose=False
)
print(files.class_names, files.element_spec)
for pictures, labels in files:
    print(pictures.numpy().mean((1, 2, 3)), labels.numpy().argmax(1))
