"""Concrete functions: get, call, print, structured inputs and outputs, graph, captures, binding Python arguments."""
import re
import tensorflow as tf


@tf.function
def double(a):
    return a + a


strings = double.get_concrete_function(tf.constant("a"))
print(strings)
print(strings(tf.constant("x")), strings(a=tf.constant("y")))
from_spec = double.get_concrete_function(tf.TensorSpec(shape=[], dtype=tf.string))
print(from_spec(tf.constant("c")), from_spec is strings)
print(strings.structured_input_signature)
print(strings.structured_outputs)
print(strings.inputs, strings.outputs)
print(strings.graph.inputs, strings.graph.outputs)
try:
    strings(tf.constant(1))
except Exception as e:
    print(type(e).__name__, re.sub(r"(__inference_double)_\d+", r"\1", str(e)))


@tf.function
def power(a, b):
    return a**b


square = power.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)
print(square)
print(square(tf.constant(10.0)).numpy())
try:
    print(square(tf.constant(10.0), b=3))
except TypeError as e:
    print(type(e).__name__, str(e).splitlines()[0])

v = tf.Variable([1.0, 2.0])
c = tf.constant(10.0)


@tf.function
def with_captures(x):
    return {"out": v * x + c, "also": (x, c)}


concrete = with_captures.get_concrete_function(tf.TensorSpec([2], tf.float32, name="signal"))
print(concrete.structured_outputs)
print([x.name for x in concrete.variables], concrete.captured_inputs[0].dtype)
print(concrete(tf.constant([3.0, 4.0]))["out"])
print(concrete(signal=tf.constant([5.0, 4.0]))["also"])
print(concrete.output_shapes, concrete.output_dtypes)
print(tf.function(lambda: None).get_concrete_function().structured_outputs)
