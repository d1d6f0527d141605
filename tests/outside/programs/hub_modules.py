"""tensorflow-hub: a module that is saved, loaded by hub.load, and a layer of a model that trains."""

import os
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tensorflow_hub as hub
import tf_keras


class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(tf.reshape(tf.range(6, dtype=tf.float32), [3, 2]) / 10, name="kernel")
        self.variables_ = [self.kernel]
        self.trainable_variables_ = [self.kernel]

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def __call__(self, x):
        return tf.nn.relu(tf.matmul(x, self.kernel))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def lengths(self, text):
        return tf.strings.length(text)


folder = tempfile.mkdtemp()
tf.saved_model.save(Scale(), folder)
x = tf.constant([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]])
loaded = hub.load(folder)
print("load", loaded(x).numpy().round(4).tolist())
print("lengths", loaded.lengths(tf.constant(["a", "bcd", ""])).numpy().tolist())
print("variables", [(v.name, v.shape.as_list()) for v in [loaded.kernel]])

layer = hub.KerasLayer(folder, trainable=True)
model = tf_keras.Sequential([tf_keras.Input([3]), layer, tf_keras.layers.Dense(1, kernel_initializer="ones")])
print("layer", model(x).numpy().round(4).tolist())
model.compile(tf_keras.optimizers.SGD(0.05), "mse")
history = model.fit(x, np.ones([2, 1], "float32"), epochs=3, batch_size=2, verbose=0)
print("fit", np.round(history.history["loss"], 4).tolist())
print("trainable", len(layer.trainable_weights), "resolved", hub.resolve(folder) == folder)
