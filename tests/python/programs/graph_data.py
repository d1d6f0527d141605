"""Graphs as data: NodeDefs, attributes of all kinds, import and export, names, graph_util, functions in libraries."""
import tensorflow as tf

v1 = tf.compat.v1
g = tf.Graph()
with g.as_default():
    x = v1.placeholder(tf.float32, [None, 4], name="x")
    k = tf.constant([[1, 2], [3, 4]], name="k")
    c = tf.nn.conv2d(tf.reshape(x, [-1, 2, 2, 1]), tf.ones([1, 1, 1, 3]), strides=[1, 1, 1, 1], padding="VALID",
                     name="conv")
    s = tf.concat([x, x], axis=1, name="cat")
    p = tf.argmax(x, axis=1, name="best")
    u, i = tf.unique(tf.constant([1, 1, 2]), name="uniq")
conv = g.get_operation_by_name("conv")
print(conv.get_attr("strides"), conv.get_attr("padding"), conv.get_attr("T"), conv.get_attr("data_format"),
      conv.get_attr("explicit_paddings"))
print(g.get_operation_by_name("cat").get_attr("N"), g.get_operation_by_name("best").get_attr("output_type"),
      g.get_operation_by_name("x").get_attr("shape"))
print(tf.make_ndarray(g.get_operation_by_name("k").get_attr("value")))
try:
    conv.get_attr("nothing")
except ValueError as e:
    print(e)
print(conv.node_def.name, list(conv.node_def.input), conv.node_def.op, conv.op_def.name,
      [a.name for a in conv.op_def.input_arg], conv.device == "")
print([t.name for t in g.get_operation_by_name("uniq").outputs], u.consumers(), x.consumers()[0].name, i.value_index,
      p.op.inputs[0] is x)
print(len(g.get_operations()), conv in g.get_operations(), c.shape, s.shape, p.dtype, x.op.type, x.get_shape())
gd = g.as_graph_def()
print([n.name for n in gd.node][:4], gd.versions.producer >= 27,
      gd.node[0].attr["dtype"].type == tf.float32.as_datatype_enum)
text = str(gd.node[0])
print(text.splitlines()[0], text.splitlines()[1])
g2 = tf.Graph()
with g2.as_default():
    outs = tf.import_graph_def(gd, input_map={"x:0": tf.zeros([1, 4])}, return_elements=["cat:0", "best"], name="pre")
    print(outs[0].name, outs[1].name, [o.name for o in g2.get_operations()][:4])
    with v1.Session() as sess:
        print(sess.run([outs[0], "pre/best:0"]))
g3 = tf.Graph()
with g3.as_default():
    tf.import_graph_def(gd, name="")
    print([o.name for o in g3.get_operations()] == [o.name for o in g.get_operations()])
print([n.name for n in v1.graph_util.extract_sub_graph(gd, ["best"]).node])
with g.as_default():
    with g.name_scope("a"):
        with g.name_scope("b"):
            print(tf.constant(1).name, g.get_name_scope())
        print(tf.identity(x, name="id").name, tf.identity(x, name="id").name)
    with g.device("/CPU:0"):
        print(tf.constant(1.0).op.device)
    with g.control_dependencies([conv]):
        print(tf.no_op().control_inputs[0].name)
    print(g.is_feedable(x), g.is_fetchable(c), g.version > 0, g.seed)


@tf.function
def square(t):
    return t * t


with tf.Graph().as_default() as g4:
    y = square(tf.constant(3.0)) + square(tf.constant(4.0))
    print(len(g4.as_graph_def().library.function), [o.type for o in g4.get_operations()], v1.Session().run(y))
for bad in (lambda: g.get_tensor_by_name("x"), lambda: g.get_operation_by_name("x:0"), lambda: g.as_graph_element(3),
            lambda: tf.import_graph_def(5)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
