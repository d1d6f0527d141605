"""Calls, signatures and traces of functions, part 1."""

import tensorflow as tf
from calls import show


@tf.function
def f(x, y=2, *args, flag=True, **kw):
    return x + y


show(lambda: f)
show(lambda: f.pretty_printed_concrete_signatures())
show(lambda: f(1))
show(lambda: f(tf.constant(1)))
show(lambda: f(tf.constant(1), tf.constant(2)))
show(lambda: f(tf.constant(1), 3))
show(lambda: f.experimental_get_tracing_count())
show(lambda: print(f.pretty_printed_concrete_signatures()))
show(lambda: f())
show(lambda: f(1, 2, 3, flag=False, z=4))
show(lambda: f(x=1, y=2))
show(lambda: f(1, x=2))
show(lambda: f(1, flag=tf.constant(1)))
show(lambda: print(f.get_concrete_function(tf.TensorSpec([None], tf.int32))))
cf = f.get_concrete_function(tf.TensorSpec([None], tf.int32))
show(lambda: cf(tf.constant([1, 2])))
show(lambda: cf([1, 2]))
show(lambda: cf(tf.constant([[1, 2]])))
show(lambda: cf(1))
show(lambda: cf())
show(lambda: cf(x=tf.constant([1])))
show(lambda: cf(z=tf.constant([1])))
show(lambda: cf.structured_input_signature)
show(lambda: cf.structured_outputs)
show(lambda: cf.output_dtypes)
show(lambda: cf.output_shapes)
show(lambda: cf.inputs)
show(lambda: cf.outputs)
show(lambda: cf.captured_inputs)
show(lambda: cf.variables)
show(lambda: cf.trainable_variables)
