"""Calls, signatures and traces of functions, part 2."""

import tensorflow as tf
from calls import show


@tf.function
def f(x, y=2, *args, flag=True, **kw):
    return x + y


cf = f.get_concrete_function(tf.TensorSpec([None], tf.int32))
show(lambda: cf.function_type)
show(lambda: cf.graph.as_graph_def().node[0].op)
show(lambda: [o.name for o in cf.graph.get_operations()])
show(lambda: [o.type for o in cf.graph.get_operations()])
show(lambda: f.python_function is not None)
show(lambda: f.input_signature)
show(lambda: f.name)
show(lambda: f.__name__)
show(lambda: f.__doc__)
show(lambda: f.__wrapped__ is f.python_function)
import inspect

show(lambda: inspect.signature(f))
show(lambda: repr(tf.function(lambda x: x))[:30])
show(lambda: tf.function(3))
show(lambda: tf.function(input_signature=[tf.TensorSpec([], tf.int32)])(lambda x: x)(1))
g = tf.function(lambda x: x, input_signature=[tf.TensorSpec([], tf.int32)])
show(lambda: g(1))
show(lambda: g(1.5))
show(lambda: g("a"))
show(lambda: g([1]))
show(lambda: g(1, 2))
show(lambda: g())
show(lambda: g(tf.constant(1.0)))
show(lambda: g(tf.constant([1])))
show(lambda: g(None))
show(lambda: g.input_signature)
show(lambda: tf.function(lambda x: x, input_signature=tf.TensorSpec([], tf.int32)))
show(lambda: tf.function(lambda x: x, input_signature=[3]))
show(lambda: tf.function(lambda x: x, input_signature=[tf.TensorSpec([]), tf.TensorSpec([])]))
