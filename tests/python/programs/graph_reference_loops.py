"""Loops of version 1 over references, written by hand: a variable that counts in place."""
import tensorflow as tf

tf1 = tf.compat.v1


def node(graph, name, op, inputs=(), **attrs):
    made = graph.node.add()
    made.name, made.op = name, op
    made.input.extend(inputs)
    for key, (field, value) in attrs.items():
        setattr(made.attr[key], field, value)
    return made


FLOAT = {"T": ("type", tf.float32.as_datatype_enum)}


def constant(graph, name, value, inputs=()):
    made = node(graph, name, "Const", inputs, dtype=FLOAT["T"])
    made.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, tf.float32))


def loop(limit, step):
    graph = tf1.GraphDef()
    graph.versions.producer = 20
    node(graph, "v", "VariableV2", dtype=FLOAT["T"]).attr["shape"].shape.CopyFrom(tf.TensorShape([]).as_proto())
    constant(graph, "zero", 0.0)
    node(graph, "init", "Assign", ["v", "zero"], **FLOAT)
    node(graph, "enter", "RefEnter", ["v"], frame_name=("s", b"frame"), **FLOAT)
    node(graph, "merge", "RefMerge", ["enter", "next"], N=("i", 2), **FLOAT)
    constant(graph, "step", step, ["^merge"])
    constant(graph, "limit", limit, ["^merge"])
    node(graph, "add", "AssignAdd", ["merge", "step"], **FLOAT)
    node(graph, "less", "Less", ["add", "limit"], **FLOAT)
    node(graph, "go_on", "LoopCond", ["less"])
    node(graph, "switch", "RefSwitch", ["add", "go_on"], **FLOAT)
    node(graph, "exit", "RefExit", ["switch"], **FLOAT)
    node(graph, "next", "RefNextIteration", ["switch:1"], **FLOAT)
    return graph


for limit, step in ((5.0, 1.0), (2.0, 0.25), (-1.0, 1.0)):
    with tf1.Graph().as_default() as graph, tf1.Session() as session:
        tf.import_graph_def(loop(limit, step), name="")
        back = graph.get_operation_by_name("next")
        print(back.type, back.outputs[0].dtype.base_dtype.name, back.outputs[0].shape, [i.name for i in back.inputs])
        session.run("init")
        print(session.run("exit:0"), session.run("v:0"), session.run("exit:0"), session.run("v:0"))

# Not initialised.
with tf1.Graph().as_default(), tf1.Session() as session:
    tf.import_graph_def(loop(3.0, 1.0), name="")
    try:
        print(session.run("exit:0"))
    except tf.errors.OpError as e:
        print(type(e).__name__, str(e).split("\n\t [[{{node")[0].split("\n")[-1])
