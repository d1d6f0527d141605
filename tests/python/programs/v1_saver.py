"""v1 Saver: save, restore, several checkpoints, meta graphs, some variables only, init_from_checkpoint."""
import os
import tempfile
import tensorflow as tf

v1 = tf.compat.v1
folder = tempfile.mkdtemp()
with tf.Graph().as_default():
    a = v1.get_variable("a", initializer=1.0)
    b = v1.get_variable("b", initializer=[2.0, 3.0])
    double = tf.multiply(b, 2.0, name="double")
    saver = v1.train.Saver(max_to_keep=2)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        for i in range(4):
            sess.run(v1.assign_add(a, 10.0))
            path = saver.save(sess, os.path.join(folder, "model"), global_step=i)
        print(os.path.basename(path), [os.path.basename(p) for p in saver.last_checkpoints])
    print(sorted(os.listdir(folder)))
    print(os.path.basename(v1.train.latest_checkpoint(folder)), tf.train.list_variables(path))
    with v1.Session() as sess:
        saver.restore(sess, os.path.join(folder, "model-2"))
        print(sess.run([a, b]))
    only = v1.train.Saver([b])
    with v1.Session() as sess:
        only.restore(sess, path)
        print(sess.run(b), sess.run(v1.report_uninitialized_variables()).tolist())
    try:
        with v1.Session() as sess:
            saver.restore(sess, os.path.join(folder, "none"))
    except ValueError as e:
        print(type(e).__name__)
with tf.Graph().as_default():
    imported = v1.train.import_meta_graph(path + ".meta")
    with v1.Session() as sess:
        imported.restore(sess, path)
        print(sess.run("double:0"), [v.name for v in v1.global_variables()])
with tf.Graph().as_default():
    with v1.variable_scope("new"):
        n = v1.get_variable("b", [2], initializer=v1.zeros_initializer())
    v1.train.init_from_checkpoint(path, {"b": "new/b"})
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        print(sess.run(n))
export = os.path.join(folder, "export")
with tf.Graph().as_default():
    x = v1.placeholder(tf.float32, [None], name="x")
    w = v1.get_variable("w", initializer=4.0)
    y = x * w
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(sess, export, {"x": x}, {"y": y})
        builder = v1.saved_model.Builder(os.path.join(folder, "builder"))
        signature = v1.saved_model.predict_signature_def({"in": x}, {"out": y})
        builder.add_meta_graph_and_variables(sess, ["serve"], {"predict": signature})
        builder.save()
with tf.Graph().as_default():
    with v1.Session() as sess:
        meta = v1.saved_model.load(sess, ["serve"], os.path.join(folder, "builder"))
        s = meta.signature_def["predict"]
        print(sess.run(s.outputs["out"].name, {s.inputs["in"].name: [1.0, 2.0]}))
loaded = tf.saved_model.load(export)
print(sorted(loaded.signatures), loaded.signatures["serving_default"](x=tf.constant([2.0, 3.0])))
print(loaded.variables[0].numpy(), type(loaded.prune("x:0", "mul:0")(tf.constant([5.0]))).__name__)
wrapped = v1.wrap_function(lambda t: v1.get_variable("q", initializer=2.0) * t, [tf.TensorSpec([], tf.float32)])
print(wrapped(tf.constant(3.0)), [v.name for v in wrapped.graph.variables])
