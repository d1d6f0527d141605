"""tf.compat.v1 graphs: Graph, Session, placeholders, feeds and fetches, names, collections, several graphs."""
import tensorflow as tf

v1 = tf.compat.v1
graph = tf.Graph()
with graph.as_default():
    a = v1.placeholder(tf.float32, shape=[None, 2], name="a")
    b = tf.constant([[1.0], [2.0]], name="b")
    c = tf.matmul(a, b, name="c")
    d = tf.reduce_sum(c) * 2.0
    print(a, b, c, d)
    print(c.op.name, c.op.type, c.graph is graph, [i.name for i in c.op.inputs], tf.executing_eagerly())
with v1.Session(graph=graph) as sess:
    print(sess.run(c, feed_dict={a: [[1, 2], [3, 4]]}))
    print(sess.run([c, d], {a: [[1, 1]]}))
    print(sess.run({"x": d, "y": (c, [b])}, {"a:0": [[5, 5]]}))
    print(sess.run("c:0", {a: [[0, 1]]}), c.eval({a: [[2, 2]]}), d.eval(feed_dict={a: [[0, 0]]}))
    print(sess.run(d, {c: [[100.0]]}), sess.run([]), sess.run(c.op, {a: [[1, 1]]}))
    print(sess.graph is graph, v1.get_default_session() is sess)
    for bad in (lambda: sess.run(c), lambda: sess.run(c, {a: [[1, 2, 3]]}), lambda: sess.run("nothing:0"),
                lambda: sess.run(5), lambda: sess.run(None)):
        try:
            print(bad())
        except Exception as e:
            print(type(e).__name__, str(e).splitlines()[0])
try:
    sess.run(d)
except RuntimeError as e:
    print(e)
print([op.name for op in graph.get_operations()])
print(graph.as_graph_def().node[0].op, graph.get_tensor_by_name("a:0").shape, graph.finalized)
graph.finalize()
try:
    with graph.as_default():
        tf.constant(1)
except RuntimeError as e:
    print(e)
other = tf.Graph()
with other.as_default():
    x = v1.placeholder_with_default(3.0, [])
    with tf.name_scope("s"):
        y = tf.add(x, 1.0)
        z = tf.add(x, 2.0)
    with v1.name_scope("s"):
        w = tf.add(x, 3.0)
    print(x.name, y.name, z.name, w.name, v1.get_default_graph() is other, other.unique_name("s"),
          other.unique_name("s/Add", mark_as_used=False))
    v1.add_to_collection("mine", y)
    print(v1.get_collection("mine"), other.get_all_collection_keys())
    with tf.control_dependencies([y]):
        n = tf.no_op(name="end")
    print(n.type, [o.name for o in n.control_inputs], n)
    with v1.Session() as s2:
        print(s2.run([y, z, w]), s2.run(w, {x: 10.0}), s2.run(n))
    config = v1.ConfigProto(allow_soft_placement=True, inter_op_parallelism_threads=1)
    with v1.Session(config=config) as s3:
        print(s3.run(y))
    try:
        with v1.Session(graph=other) as s4:
            s4.run(c)
    except ValueError as e:
        print(str(e).splitlines()[0])
g3 = tf.Graph()
with g3.as_default():
    (imported,) = tf.graph_util.import_graph_def(graph.as_graph_def(), {"a:0": tf.ones([1, 2])}, ["c:0"], name="im")
    print(imported.name, v1.Session().run(imported))
