"""Writes data/model_gradient with TensorFlow: a SavedModel whose function has a custom gradient. Run it in the folder of this file."""

import tensorflow as tf


@tf.custom_gradient
def clip(y):
    def back(dy):
        return tf.clip_by_norm(dy, 0.5)

    return tf.exp(y), back


m = tf.Module()
m.f = tf.function(lambda x: clip(x) * 1.0, input_signature=[tf.TensorSpec(None)])
tf.saved_model.save(m, "model_gradient")
