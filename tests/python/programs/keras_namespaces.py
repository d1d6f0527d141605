"""Namespaces of Keras that are at the top, too."""

import tensorflow as tf

NAMES = ("BinaryAccuracy", "Adam", "MeanSquaredError", "Zeros", "get")
for space in "metrics losses optimizers initializers".split():
    for top in (tf, tf.compat.v2):
        own = getattr(top, space)
        print(space, [hasattr(own, n) and getattr(own, n) is getattr(getattr(tf.keras, space), n) for n in NAMES])
    print("  listed", space in dir(tf))
print(tf.metrics.BinaryAccuracy(threshold=0.5)([1.0, 0.0], [0.9, 0.8]).numpy())
print(tf.losses.MeanSquaredError()([1.0, 2.0], [2.0, 4.0]).numpy(), tf.initializers.Ones()([2]).numpy())
print(tf.optimizers.SGD(0.5).learning_rate.numpy())
from tensorflow import losses  # noqa: E402

print(losses.MeanSquaredError.__name__)
try:
    tf.compat.v1.optimizers
except AttributeError:
    print("not in version 1")
