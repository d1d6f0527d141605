"""Gradients of the ops of function_gradients.cc, by SymbolicGradient. With TensorFlow 2.21, for which the library was compiled with its headers, it printed
function_gradients.out.

function_gradients.py LIBRARY
"""

import sys

import tensorflow as tf

ops = tf.load_op_library(sys.argv[1])


def gradient(f, *x, dys):
    """Of a function with tensors of the types of x."""
    specs = [tf.TensorSpec(None, v.dtype) for v in x]
    concrete = tf.function(f, input_signature=specs).get_concrete_function()
    out = tf.function(lambda: tf.raw_ops.SymbolicGradient(input=[*x, *dys], Tout=[v.dtype for v in x], f=concrete))()
    return [v.numpy().tolist() for v in out]


x = tf.constant([1.0, 2.0, -3.0])
dy = tf.constant([1.0, 10.0, 100.0])
for power in (1, 2, 4):
    print("power", power, gradient(lambda v, power=power: ops.wf_power(v, power=power), x, dys=[dy]))
wide = tf.cast(x, tf.float64)
print(
    "double", gradient(lambda v: ops.wf_power(ops.wf_power(v, power=3), power=2), wide, dys=[tf.cast(dy, tf.float64)])
)
print("sum", gradient(lambda v: ops.wf_power(v, power=2) + tf.sin(v) * 0.0, x, dys=[dy]))
table = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
rows = [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.constant([5.0, 6.0])]
print("rows", gradient(lambda v: ops.wf_rows(v * 2.0, N=3), table, dys=rows))
print("pass", gradient(lambda v: ops.wf_pass(v) + v * 3.0, x, dys=[dy]))
print("pass alone", gradient(lambda v: ops.wf_pass(v), x, dys=[dy]))
try:
    gradient(lambda v: ops.wf_fails(v), x, dys=[dy])
except tf.errors.OpError:
    print("fails")
