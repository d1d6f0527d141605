"""Writes data/model_v1 with TensorFlow: a SavedModel of version 1, with variables of the old kind and a table. Run it in the folder of this file."""

import tensorflow as tf

v1 = tf.compat.v1
with tf.Graph().as_default(), v1.Session() as sess:
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    w = v1.get_variable("w", initializer=[[1.0], [2.0]], use_resource=False)
    b = v1.get_variable("b", initializer=[0.5], use_resource=False)
    table = v1.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1
    )
    k = v1.placeholder(tf.string, [None], name="k")
    ids = table.lookup(k)
    y = tf.matmul(x, w) + b
    z = tf.cond(tf.reduce_sum(y) > 0, lambda: y * 2.0, lambda: y)
    sess.run([v1.global_variables_initializer(), v1.tables_initializer()])
    builder = v1.saved_model.Builder("model_v1")
    signature = v1.saved_model.predict_signature_def
    builder.add_meta_graph_and_variables(
        sess,
        ["serve"],
        {"serving_default": signature({"x": x}, {"y": y, "z": z}), "look": signature({"k": k}, {"ids": ids})},
        main_op=v1.tables_initializer(),
    )
    builder.save()
