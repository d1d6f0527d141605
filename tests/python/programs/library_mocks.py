"""Functions of private modules that tests of libraries replace."""
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import stateless_random_ops
from unittest import mock

picture = np.arange(12.0).reshape(2, 2, 3, 1)
for drawn in ([1, 0], [0, 1], [1, 1]):
    values = np.reshape(drawn, [2, 1, 1, 1]).astype("float32")
    with mock.patch.object(stateless_random_ops, "stateless_random_uniform", return_value=values) as replaced:
        flipped = tf.image.stateless_random_flip_left_right(picture, (1, 2))
    print(drawn, replaced.call_count, flipped[..., 0].numpy().tolist())
print(stateless_random_ops.stateless_random_uniform is tf.random.stateless_uniform)
print(tf.image.stateless_random_flip_left_right(picture, (1, 2))[..., 0].numpy().tolist())
with mock.patch.object(stateless_random_ops, "of_nobody", 3, create=True):
    print(stateless_random_ops.of_nobody)
print(hasattr(stateless_random_ops, "of_nobody"))
