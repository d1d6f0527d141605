"""Arithmetic, reductions and graphs with arguments that do not fit, part 1."""

import contextlib
import re

import numpy as np
import tensorflow as tf


def without_addresses(text):
    return re.sub(r" at 0x\w+", "", text)


@contextlib.contextmanager
def shown():
    """Prints the kind and the text of an error."""
    try:
        yield
    except Exception as e:
        print(type(e).__name__ + ":", without_addresses(str(e)))


def show(call):
    with shown():
        value = call()
        if value is not None:
            print(without_addresses(repr(value)))


gr = tf.Graph()
with gr.as_default():
    a = tf.compat.v1.placeholder(tf.float32, [2])
    b = tf.compat.v1.placeholder(tf.float32, [2])
with shown():
    with gr.as_default():
        tf.constant(a)
show(lambda: a == b)
show(lambda: a == a)
show(lambda: {a: 1}[a])
show(lambda: hash(a) == hash(a))
show(lambda: a in [b, a])
s = tf.compat.v1.Session(graph=gr)
show(lambda: s.run(a, {a: [1, 2]}))
with gr.as_default():
    print(a == b, a + b, a == 1)
show(lambda: bool(a))
show(lambda: len(a))
show(lambda: np.array(a))
show(lambda: int(a))
with shown():
    if a:
        pass
show(lambda: a.numpy())
show(lambda: a.eval({a: [1, 2]}, s))
show(lambda: a.eval())
show(lambda: a.op)
show(lambda: a.op.type)
show(lambda: a.name)
show(lambda: a.graph is gr)
show(lambda: a.value_index)
show(lambda: a.shape)
show(lambda: a.dtype)
show(lambda: a.device)
show(lambda: a.consumers())
show(lambda: repr(a))
show(lambda: str(a))
show(lambda: a.op.inputs)
show(lambda: a.op.outputs)
show(lambda: a.op.control_inputs)
show(lambda: a.op.get_attr("dtype"))
show(lambda: a.op.name)
show(lambda: a.op.device)
show(lambda: a.op.op_def.name)
show(lambda: a.op.get_attr("nope"))
show(lambda: gr.get_operations())
show(lambda: gr.get_tensor_by_name("Placeholder:0") is a)
show(lambda: gr.get_tensor_by_name("nope:0"))
show(lambda: gr.get_tensor_by_name("Placeholder:5"))
show(lambda: gr.get_tensor_by_name("Placeholder"))
show(lambda: gr.get_operation_by_name("nope"))
show(lambda: gr.get_operation_by_name("Placeholder:0"))
show(lambda: gr.get_operation_by_name(3))
show(lambda: gr.as_graph_element("Placeholder"))
show(lambda: gr.as_graph_element("Placeholder:0"))
show(lambda: gr.as_graph_element("nope"))
show(lambda: gr.as_graph_element(3))
show(lambda: gr.version)
show(lambda: gr.building_function)
show(lambda: gr.finalized)
show(lambda: gr.seed)
show(lambda: gr.finalize())
with shown():
    with gr.as_default():
        tf.constant(1)
show(lambda: gr.get_collection("x"))
show(lambda: gr.collections)
show(lambda: gr.unique_name("Placeholder"))
show(lambda: gr.is_feedable(a))
show(lambda: gr.is_fetchable(a))
show(lambda: s.run("nope"))
show(lambda: s.run(3))
show(lambda: s.run(None))
show(lambda: s.run([a], {a: [1, 2, 3]}))
show(lambda: s.run(a, {"foo": 1}))
show(lambda: s.run({"x": [a, a], "y": (a,)}, {a: [1, 2]}))
show(lambda: s.run([], {}))
show(lambda: s.close())
show(lambda: s.run(a, {a: [1, 2]}))
show(lambda: tf.compat.v1.get_default_graph())
show(lambda: tf.compat.v1.get_default_session())
show(lambda: tf.Graph())
with shown():
    x = tf.ones_like("a")
show(lambda: tf.constant("a") * 3)
show(lambda: tf.constant("a") - "b")
show(lambda: tf.constant("a") < 3)
show(lambda: 3 * tf.constant("a"))
show(lambda: tf.constant(1) + "a")
show(lambda: tf.constant(1.0) + "a")
show(lambda: tf.constant(1) + 2.5)
show(lambda: 2.5 + tf.constant(1))
show(lambda: tf.constant(1) + [1.5])
show(lambda: tf.constant(1) + True)
show(lambda: tf.constant(True) + 1)
show(lambda: tf.constant(True) + tf.constant(True))
show(lambda: tf.constant(1) / "a")
show(lambda: tf.constant(1) // 0)
show(lambda: tf.constant(1) % 0)
show(lambda: tf.constant(1) / 0)
show(lambda: tf.constant(1.0) // 0.0)
show(lambda: tf.constant(2) ** -1)
show(lambda: tf.constant(2.0) ** 0.5)
show(lambda: tf.constant([1, 2]) + tf.constant([1, 2, 3]))
show(lambda: tf.constant([1, 2]) @ tf.constant([1, 2]))
show(lambda: tf.constant([[1, 2]]) @ tf.constant([[1, 2]]))
show(lambda: tf.constant([[1.0, 2]]) @ [[1], [2]])
show(lambda: tf.matmul([[1.0, 2]], [[1], [2]]))
show(lambda: tf.matmul([[1, 2]], [[1.0], [2.0]]))
show(lambda: tf.matmul([[1]], [[1]], transpose_a=True, adjoint_a=True))
show(lambda: tf.matmul([1], [1]))
show(lambda: tf.matmul([["a"]], [["a"]]))
show(lambda: tf.add(1, "a"))
