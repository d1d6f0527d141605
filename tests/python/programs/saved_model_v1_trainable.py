# Which variables of a SavedModel of version 1 are trainable, and its signatures.
import os
import shutil
import tempfile

import tensorflow as tf

v1 = tf.compat.v1
folder = tempfile.mkdtemp()
path = os.path.join(folder, "model")
with tf.Graph().as_default(), v1.Session() as session:
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    z = v1.placeholder_with_default(3.0, [], name="z")
    w = v1.get_variable("w", initializer=[[1.0], [2.0]], use_resource=True)
    step = v1.get_variable("step", initializer=7, trainable=False, use_resource=True)
    y = tf.identity(tf.matmul(x, w) + z, name="y")
    session.run(v1.global_variables_initializer())
    builder = v1.saved_model.Builder(path)
    signature = v1.saved_model.predict_signature_def({"b": x, "a": z}, {"y": y, "step": tf.identity(step)})
    builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
    builder.save()
loaded = tf.saved_model.load(path)
print(sorted((v.name, v.trainable, v.numpy().tolist()) for v in loaded.variables))
f = loaded.signatures["serving_default"]
print(
    sorted(f.structured_outputs),
    sorted((k, v.numpy().tolist()) for k, v in f(a=tf.constant(1.0), b=tf.constant([[1.0, 1.0]])).items()),
)
print([v.name for v in f.trainable_variables])
shutil.rmtree(folder)
