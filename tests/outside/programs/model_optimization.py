"""tensorflow-model-optimization: weights that are pruned while a model trains, and that are clustered."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tensorflow_model_optimization as tfmot
import tf_keras

rng = np.random.RandomState(0)
x, y = rng.randn(32, 6).astype("float32"), rng.randn(32, 2).astype("float32")


def dense(units, seed, width):
    kernel = np.random.RandomState(seed).randn(width, units).astype("float32")
    return tf_keras.layers.Dense(units, kernel_initializer=tf_keras.initializers.Constant(kernel))


def network():
    return tf_keras.Sequential([tf_keras.Input([6]), dense(8, 1, 6), tf_keras.layers.ReLU(), dense(2, 2, 8)])


schedule = tfmot.sparsity.keras.ConstantSparsity(0.5, begin_step=0, frequency=1)
pruned = tfmot.sparsity.keras.prune_low_magnitude(network(), pruning_schedule=schedule)
pruned.compile(tf_keras.optimizers.SGD(0.01), "mse")
history = pruned.fit(
    x, y, epochs=2, batch_size=8, shuffle=False, verbose=0, callbacks=[tfmot.sparsity.keras.UpdatePruningStep()]
)
print("pruned loss", np.round(history.history["loss"], 3).tolist())
plain = tfmot.sparsity.keras.strip_pruning(pruned)
print("zeros", [int((w == 0).sum()) for w in plain.get_weights() if w.ndim == 2])
print("layers", [type(layer).__name__ for layer in plain.layers])
start = tfmot.clustering.keras.CentroidInitialization.LINEAR
clustered = tfmot.clustering.keras.cluster_weights(network(), number_of_clusters=4, cluster_centroids_init=start)
clustered.compile(tf_keras.optimizers.SGD(0.01), "mse")
clustered.fit(x, y, epochs=1, batch_size=16, shuffle=False, verbose=0)
plain = tfmot.clustering.keras.strip_clustering(clustered)
print("values", [len(np.unique(w)) for w in plain.get_weights() if w.ndim == 2])
print("output", plain(x[:2]).numpy().round(3).tolist(), tf.config.functions_run_eagerly())
