"""SavedModel: save and load a module with functions; signatures; variables; files; call after load."""
import os
import tempfile
import tensorflow as tf


class Adder(tf.Module):
    def __init__(self):
        super().__init__()
        self.offset = tf.Variable(10.0, name="offset")
        self.history = [tf.Variable(1, trainable=False)]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="values")])
    def add(self, x):
        return {"sum": x + self.offset, "twice": x * 2.0}

    @tf.function
    def __call__(self, x):
        print("Tracing with", x)
        return x - self.offset


folder = os.path.join(tempfile.mkdtemp(), "adder")
module = Adder()
module(tf.constant(1.0))
tf.saved_model.save(module, folder)
print(sorted(os.listdir(folder)), sorted(os.listdir(os.path.join(folder, "variables"))))
print(tf.saved_model.contains_saved_model(folder), tf.saved_model.contains_saved_model(os.path.dirname(folder)))
loaded = tf.saved_model.load(folder)
print(loaded(tf.constant(3.0)))
print(sorted(loaded.add(tf.constant([1.0, 2.0])).items()))
print(loaded.offset, len(loaded.history), loaded.history[0].trainable)
loaded.offset.assign(100.0)
print(loaded(tf.constant(3.0)).numpy(), module(tf.constant(3.0)).numpy())
print(sorted(loaded.signatures), type(loaded).__name__)
signature = loaded.signatures[tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
print(signature.structured_input_signature)
print(sorted(signature.structured_outputs.items()))
print(signature(values=tf.constant([5.0]))["sum"].numpy(), sorted(signature(tf.constant([5.0]))))
print(isinstance(loaded, Adder), isinstance(loaded, tf.Module), hasattr(loaded, "trainable_variables"))
try:
    loaded(tf.constant([1.0, 2.0]))
except ValueError as e:
    print(str(e).splitlines()[0], "...", str(e).splitlines()[-1])
try:
    loaded.add(tf.constant(["x"]))
except Exception as e:
    print(type(e).__name__)
try:
    tf.saved_model.load(os.path.join(folder, "variables"))
except OSError as e:
    print(type(e).__name__, str(e).replace(folder, "FOLDER"))
with tf.GradientTape() as tape:
    y = loaded(tf.constant(2.0)) ** 2
print(tape.gradient(y, loaded.offset).numpy())
print(loaded.tensorflow_version == tf.__version__)
