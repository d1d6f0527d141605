# Where an image lies in its padding when its own size is no whole number.
import numpy as np
import tensorflow as tf

image = np.arange(40, dtype=np.float32).reshape(5, 4, 2) / 8
for height, width in ((6, 2), (3, 7), (5, 4), (7, 3), (2, 9), (11, 5)):
    made = tf.image.resize_with_pad(image, height, width).numpy()
    rows = np.flatnonzero(made.any(axis=(1, 2)))
    columns = np.flatnonzero(made.any(axis=(0, 2)))
    print(height, width, made.shape, rows, columns, "%.4f" % made.sum())
print(tf.image.resize_with_pad(image[None], 6, 2, method="nearest").numpy()[0, :, :, 0])
