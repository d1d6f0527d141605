"""Models as SavedModels and TensorFlow checkpoints: export, endpoints of one's own, what is loaded again, TFSMLayer."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(13)
folder = tempfile.mkdtemp()
rng = np.random.RandomState(0)
x, y = rng.rand(32, 5).astype("float32"), rng.rand(32, 2).astype("float32")

i = keras.Input((5,), name="features")
h = layers.Dropout(0.5)(layers.Dense(6, activation="relu")(layers.BatchNormalization()(i)))
model = keras.Model(i, layers.Dense(2)(h))
model.compile("adam", "mse")
model.fit(x, y, epochs=2, shuffle=False, verbose=0)
expected = model.predict(x, verbose=0)

path = os.path.join(folder, "served")
model.export(path, verbose=False)
print(sorted(os.listdir(path)))
served = tf.saved_model.load(path)
print(sorted(served.signatures), np.allclose(served.serve(x), expected, atol=1e-5))
signature = served.signatures["serving_default"]
print(sorted(signature.structured_input_signature[1]), signature.structured_outputs)
print(sorted(signature(features=tf.constant(x[:3]))))
print(len(served.variables), len(served.trainable_variables))

archive = keras.export.ExportArchive()
archive.track(model)
archive.add_endpoint("call", model.call, input_signature=[tf.TensorSpec((None, 5), tf.float32)])
archive.add_endpoint(
    "train_like", lambda v: model(v, training=True), input_signature=[tf.TensorSpec((4, 5), tf.float32, name="rows")]
)
archive.add_variable_collection("weights", model.weights)
archive.write_out(os.path.join(folder, "two"), verbose=False)
two = tf.saved_model.load(os.path.join(folder, "two"))
print(np.allclose(two.call(x), expected, atol=1e-5), two.train_like(x[:4]).shape, len(two.weights))

layer = layers.TFSMLayer(path, call_endpoint="serve")
print(np.allclose(layer(x), expected, atol=1e-5), len(layer.weights))
around = keras.Sequential([keras.Input((5,)), layer, layers.Dense(1)])
around.compile("sgd", "mse")
print(around.predict(x, verbose=0).shape, len(around.fit(x, y[:, :1], verbose=0, shuffle=False).history["loss"]))

# tf.saved_model.save knows models, too.
tf.saved_model.save(model, os.path.join(folder, "plain"))
plain = tf.saved_model.load(os.path.join(folder, "plain"))
print(sorted(plain.signatures), sorted(plain.signatures["serving_default"](tf.constant(x))))

# Checkpoints of TensorFlow, with the optimizer's state.
checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
prefix = checkpoint.save(os.path.join(folder, "ckpt"))
print(sorted(name for name, _ in tf.train.list_variables(prefix))[:5])
twin = keras.models.clone_model(model)
twin.compile("adam", "mse")
twin.fit(x[:1], y[:1], verbose=0)
tf.train.Checkpoint(model=twin, optimizer=twin.optimizer).restore(prefix).assert_existing_objects_matched()
print(
    np.allclose(twin.predict(x, verbose=0), expected), int(twin.optimizer.iterations) == int(model.optimizer.iterations)
)


# A module of TensorFlow's own with a Keras layer inside.
class Wrapped(tf.Module):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(3)
        self.dense.build((None, 5))

    @tf.function(input_signature=[tf.TensorSpec([None, 5], tf.float32)])
    def __call__(self, x):
        return self.dense(x)


wrapped = Wrapped()
tf.saved_model.save(wrapped, os.path.join(folder, "module"))
print(np.allclose(tf.saved_model.load(os.path.join(folder, "module"))(x), wrapped(x)), len(wrapped.trainable_variables))
