# Version 1's files, generated ops by name, scopes of the eager context and conversions of private modules.
import os
import tempfile

import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import ops, smart_cond, tensor_util, type_spec
from tensorflow.python.ops import array_ops, gen_array_ops, gen_math_ops, math_ops, resource_variable_ops
from tensorflow.python.ops.parallel_for import control_flow_ops as pfor_ops
from tensorflow.python.platform import tf_logging
from tensorflow.python.training import adam
from tensorflow.python.util import variable_utils

gfile = tf.compat.v1.gfile
folder = os.path.join(tempfile.mkdtemp(), "a", "b")
gfile.MakeDirs(folder)
with gfile.GFile(os.path.join(folder, "f.txt"), "w") as f:
    f.write("text")
gfile.Copy(os.path.join(folder, "f.txt"), os.path.join(folder, "g.txt"))
gfile.Rename(os.path.join(folder, "g.txt"), os.path.join(folder, "h.txt"))
print(gfile.ListDirectory(folder), gfile.Exists(folder), gfile.IsDirectory(folder), gfile.Stat(os.path.join(folder, "f.txt")).length)
print([(len(d), sorted(f)) for _, d, f in gfile.Walk(folder)], len(gfile.Glob(os.path.join(folder, "*.txt"))))
print(gfile.FastGFile(os.path.join(folder, "f.txt"), "rb").read())
gfile.DeleteRecursively(folder)
print(gfile.Exists(folder))

print(gen_array_ops.reverse_v2(tf.constant([1, 2]), [0]).numpy(), gen_math_ops.add_v2(1, 2).numpy())
print(math_ops.reduce_sum_v1 is tf.compat.v1.reduce_sum, array_ops.where_v2 is tf.where, adam.AdamOptimizer is tf.compat.v1.train.AdamOptimizer)
print(array_ops.concat is tf.concat, math_ops.floormod is tf.math.floormod, tf_logging.WARN)
with context.graph_mode():
    print(tf.executing_eagerly(), context.executing_eagerly())
with tf.Graph().as_default():
    with context.eager_mode():
        print(tf.executing_eagerly())
print(smart_cond.smart_cond(True, lambda: 1, lambda: 2), tensor_util.is_tf_type(tf.constant(1)), tensor_util.constant_value(tf.constant([1, 2])))
print(isinstance(ops.convert_to_tensor(1), ops.EagerTensor), ops.name_from_scope_name("a/b/"))
v = tf.Variable([1.0, 2.0])
print(variable_utils.convert_variables_to_tensors([v, 3])[0].numpy(), resource_variable_ops.is_resource_variable(v))
print(resource_variable_ops.VariableSpec.from_value(v), type_spec.type_spec_from_value(tf.constant(1)))
print(pfor_ops.pfor(lambda i: tf.cast(i, tf.float32) * 2, 3).numpy())
print(tf.__internal__.ops.broadcast_weights([[1.0], [2.0]], tf.ones([2, 3])).numpy())
print(tf.random.Generator.from_seed(7, alg="auto_select").uniform([2]).numpy())
print(tf.broadcast_dynamic_shape([], tf.constant([2])).numpy(), tf.compat.v1.div(tf.constant([3.0]), 2).numpy())
