"""Checkpoints of Keras 3's optimisers (keras_*) behind three steps, with the weights behind five, and one of TensorFlow's older Adam, which
has slots (slots_adam): checkpoints.txt and the files beside it. Run with TensorFlow 2.21 and Keras 3."""
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).parent
FOLDER = HERE / "checkpoints"
FOLDER.mkdir(exist_ok=True)
O = keras.optimizers
GRADIENTS = [tf.constant([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), tf.constant([0.5, -0.5])]
lines = []


def numbers(arrays):
    return " ".join(str(x) for a in arrays for x in np.asarray(a).ravel())


for name, made in {"SGD": O.SGD(0.05, momentum=0.9), "Adam": O.Adam(0.05, amsgrad=True), "AdamW": O.AdamW(0.05), "RMSprop": O.RMSprop(0.05, momentum=0.5, centered=True),
                   "Adagrad": O.Adagrad(0.05), "Adadelta": O.Adadelta(0.5), "Ftrl": O.Ftrl(0.05), "Adamax": O.Adamax(0.05), "Nadam": O.Nadam(0.05, use_ema=True),
                   "Lion": O.Lion(0.05)}.items():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.set_weights([np.arange(1, 7).reshape(3, 2).astype("f") / 4, np.array([0.1, 0.2], "f")])
    for _ in range(3):
        made.apply(GRADIENTS, model.trainable_variables)
    tf.train.Checkpoint(model=model, optimizer=made).write(str(FOLDER / f"keras_{name}"))
    for _ in range(2):
        made.apply(GRADIENTS, model.trainable_variables)
    lines.append(f"{name} {numbers(model.get_weights())}")

v = tf.Variable([1.0, 2.0, 3.0])
old = tf.compat.v1.train.AdamOptimizer(0.1)
old.apply_gradients([(tf.constant([0.5, -1.0, 2.0]), v)])
tf.train.Checkpoint(v=v, optimizer=old).write(str(FOLDER / "slots_adam"))
lines.append(f"slots {numbers([v, old.get_slot(v, 'm'), old.get_slot(v, 'v')])}")
(HERE / "checkpoints.txt").write_text("\n".join(lines) + "\n")
