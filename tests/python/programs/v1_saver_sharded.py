"""v1 Saver with a file for each device, reshape, and sharded savers whose graph is loaded again."""
import os
import tempfile
import tensorflow as tf

v1 = tf.compat.v1
folder = tempfile.mkdtemp()
two = v1.ConfigProto(device_count={"CPU": 2})


def listed(prefix):
    return sorted(name for name in os.listdir(folder) if name.startswith(prefix))


def model():
    with tf.device("/cpu:0"):
        a = v1.get_variable("a", initializer=1.0)
    with tf.device("/cpu:1"):
        b = v1.get_variable("b", initializer=[[2.0, 3.0], [4.0, 5.0]])
    return a, b, v1.get_variable("c", initializer=[6, 7])


with tf.Graph().as_default() as g:
    a, b, c = model()
    saver = v1.train.Saver(sharded=True)
    d = saver.as_saver_def()
    print(d.sharded, d.version, d.filename_tensor_name, d.save_tensor_name, d.restore_op_name)
    for kind in ("SaveV2", "RestoreV2", "ShardedFilename", "MergeV2Checkpoints"):
        print(kind, sorted(op.device for op in g.get_operations() if op.type == kind))
    with v1.Session(config=two) as sess:
        sess.run(v1.global_variables_initializer())
        path = saver.save(sess, os.path.join(folder, "model"), global_step=1)
        print(os.path.basename(path), listed("model"))
        sess.run([v1.assign(a, 0.0), v1.assign(b, tf.zeros([2, 2])), v1.assign(c, [0, 0])])
        saver.restore(sess, path)
        print(sess.run([a, b, c]))
        for i in range(2, 9):
            path = saver.save(sess, os.path.join(folder, "model"), global_step=i, write_meta_graph=False)
        print(len(listed("model")), os.path.basename(v1.train.latest_checkpoint(folder)))
    print(tf.train.list_variables(path), tf.train.load_variable(path, "b"))
    plain = v1.train.Saver()
    print(plain.as_saver_def().sharded, plain.as_saver_def().save_tensor_name)
    with v1.Session(config=two) as sess:
        plain.restore(sess, path)
        print(sess.run(b), os.path.basename(plain.save(sess, os.path.join(folder, "plain"))), listed("plain"))
    alone = v1.train.Saver([a], sharded=True, name="alone")
    with v1.Session(config=two) as sess:
        alone.restore(sess, path)
        alone.save(sess, os.path.join(folder, "alone"), write_meta_graph=False)
        print(sess.run(a), listed("alone"), alone.as_saver_def().save_tensor_name)

meta = os.path.join(folder, "graph.meta")
with g.as_default():
    saver.export_meta_graph(meta)
with tf.Graph().as_default():
    imported = v1.train.import_meta_graph(meta)
    with v1.Session(config=two) as sess:
        imported.restore(sess, path)
        print(sess.run(v1.global_variables()[2]))
        imported.save(sess, os.path.join(folder, "again"), write_meta_graph=False)
        print(imported.as_saver_def().sharded, listed("again"))

with tf.Graph().as_default():
    b = v1.get_variable("b", [4], initializer=v1.zeros_initializer())
    for reshape in (True, False):
        saver = v1.train.Saver([b], reshape=reshape)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            try:
                saver.restore(sess, path)
                print(reshape, sess.run(b))
            except tf.errors.InvalidArgumentError as e:
                print(reshape, type(e).__name__)
