"""Outputs that are references, in graphs of version 1: their types, and those of what reads them."""

import tensorflow as tf

v1 = tf.compat.v1
with tf.Graph().as_default() as graph:
    variable = tf.raw_ops.VariableV2(shape=[2], dtype=tf.float32, name="v")
    assigned = tf.raw_ops.Assign(ref=variable, value=tf.constant([1.0, 2.0]))
    print(variable, variable.dtype, variable.dtype.base_dtype, variable.dtype._is_ref_dtype)
    print(assigned, [t.dtype for t in assigned.op.inputs])
    read = tf.identity(variable)
    print(read, (read * 2.0).dtype, (variable * 2.0).dtype, tf.convert_to_tensor(variable, tf.float32).dtype)
    print(variable.dtype == tf.float32, variable.dtype == tf.float32._as_ref, tf.float32.is_compatible_with(variable.dtype))
    print(tf.raw_ops.AssignAdd(ref=variable, value=[1.0, 1.0]).dtype, tf.raw_ops.RefIdentity(input=variable).dtype)
    print([t.shape for t in tf.gradients(variable * 3.0, variable)])
    with v1.Session() as session:
        print(session.run(assigned), session.run([variable, read * 2.0]), session.run(variable * 2.0, {variable: [5.0, 6.0]}))
other = tf.Graph()
with other.as_default():
    tf.import_graph_def(graph.as_graph_def(), name="in")
    print([(o.name, [t.dtype.name for t in o.outputs]) for o in other.get_operations() if o.name in ("in/v", "in/Assign", "in/Identity")])
