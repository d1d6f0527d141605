"""tensorflow-recommenders: a retrieval task that trains, and its exact index."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tensorflow_recommenders as tfrs
import tf_keras

users, items = ["u1", "u2", "u3"], ["a", "b", "c", "d"]


def tower(words, seed):
    table = np.random.RandomState(seed).randn(len(words) + 1, 4).astype("float32")
    return tf_keras.Sequential(
        [
            tf_keras.layers.StringLookup(vocabulary=words),
            tf_keras.layers.Embedding(len(words) + 1, 4, embeddings_initializer=tf_keras.initializers.Constant(table)),
        ]
    )


class Model(tfrs.Model):
    def __init__(self):
        super().__init__()
        self.user, self.item = tower(users, 1), tower(items, 2)
        candidates = tf.data.Dataset.from_tensor_slices(items).batch(2).map(self.item)
        self.task = tfrs.tasks.Retrieval(metrics=tfrs.metrics.FactorizedTopK(candidates, ks=(1, 2)))

    def compute_loss(self, features, training=False):
        return self.task(self.user(features["user"]), self.item(features["item"]), compute_metrics=not training)


data = tf.data.Dataset.from_tensor_slices({"user": ["u1", "u2", "u3", "u1"], "item": ["a", "b", "c", "d"]}).batch(4)
model = Model()
model.compile(optimizer=tf_keras.optimizers.Adagrad(0.1))
history = model.fit(data, epochs=3, verbose=0)
print("loss", np.round(history.history["loss"], 3).tolist())
# The metric compares a sum of products with a matrix product of the same numbers: with these both are exact, whatever the order of additions.
for variable in model.trainable_variables:
    variable.assign(tf.round(variable * 8.0) / 8.0)
print("evaluate", {k: round(float(v), 3) for k, v in model.evaluate(data, return_dict=True, verbose=0).items()})
index = tfrs.layers.factorized_top_k.BruteForce(model.user, k=2)
index.index_from_dataset(
    tf.data.Dataset.zip(
        (
            tf.data.Dataset.from_tensor_slices(items).batch(2),
            tf.data.Dataset.from_tensor_slices(items).batch(2).map(model.item),
        )
    )
)
scores, names = index(tf.constant(["u1", "u3"]))
print("best", scores.numpy().round(3).tolist(), names.numpy().tolist())
