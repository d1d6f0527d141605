"""Virtual devices may be set until the first op runs: what is no op does not start the context."""

import numpy as np
import tensorflow as tf

LDC = tf.config.LogicalDeviceConfiguration
cpu = tf.config.list_physical_devices("CPU")[0]
# Nothing of this runs an op.
spec = tf.TensorSpec([None, 2], tf.float32)
shape = tf.TensorShape([1, None])
signature = tf.function(lambda x: x * 2, input_signature=[spec])
print(tf.config.get_visible_devices("CPU"), tf.config.get_logical_device_configuration(cpu))
print(tf.executing_eagerly(), tf.as_dtype("int32"), tf.nest.flatten({"b": 1, "a": [2, 3]}), spec.shape, shape)
tf.random.set_seed(3)
tf.config.set_soft_device_placement(True)
tf.config.experimental.enable_op_determinism
options = tf.data.Options()
ragged = tf.RaggedTensorSpec([None, None], tf.int32)
with tf.name_scope("n"):
    pass
graph = tf.Graph()
with graph.as_default():
    a = tf.constant(1) + tf.constant(2)
    print(a)
module = tf.Module(name="m")
tf.config.threading.get_inter_op_parallelism_threads()
tape = tf.GradientTape()
tf.config.set_logical_device_configuration(cpu, [LDC(), LDC()])
tf.config.set_logical_device_configuration(cpu, [LDC(), LDC(), LDC()])
print(tf.config.get_logical_device_configuration(cpu))
print([d.name for d in tf.config.list_logical_devices("CPU")])


def late(call):
    try:
        print(call())
    except RuntimeError as e:
        print("RuntimeError:", e)
    except ValueError as e:
        print("ValueError:", e)


late(lambda: tf.config.set_logical_device_configuration(cpu, [LDC()]))
late(lambda: tf.config.set_logical_device_configuration(cpu, [LDC(), LDC(), LDC()]))
late(lambda: tf.config.set_visible_devices([], "CPU"))
late(lambda: tf.config.threading.set_inter_op_parallelism_threads(3))
late(lambda: tf.config.threading.set_intra_op_parallelism_threads(3))
with tf.device("CPU:2"):
    x = tf.constant([1.0, 2.0])
    print(x.device, (x + 1).device)
print(signature(np.ones([1, 2], np.float32)).device)
late(lambda: tf.config.set_logical_device_configuration(cpu, [LDC()]))

from tensorflow.python.eager import context  # noqa: E402  as tests of libraries start again

context._reset_context()
print(tf.config.get_logical_device_configuration(cpu))
tf.config.set_logical_device_configuration(cpu, [LDC()] * 2)
print([d.name for d in tf.config.list_logical_devices("CPU")])
with tf.device("CPU:1"):
    print((tf.constant(1) + 1).device)
context._reset_context()
print(tf.constant(3).device, len(tf.config.list_logical_devices("CPU")))
late(lambda: tf.config.set_logical_device_configuration(cpu, [LDC()] * 2))
