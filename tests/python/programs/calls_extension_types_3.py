"""Extension types, specs and devices, part 3."""

import numpy as np
import tensorflow as tf
from calls import show, shown

ts = tf.TensorSpec([None, 2], tf.int32, name="t")
with shown():
    ts.shape = 3
show(lambda: ts.with_name if hasattr(ts, "with_name") else None)
show(lambda: tf.type_spec_from_value(3))
show(lambda: tf.type_spec_from_value("a"))
show(lambda: tf.type_spec_from_value(np.ones(2)))
show(lambda: tf.type_spec_from_value([1, 2]))
show(lambda: tf.type_spec_from_value(tf.Variable(1)))
show(lambda: tf.type_spec_from_value(tf.sparse.from_dense([1])))
show(lambda: tf.type_spec_from_value(object()))
show(lambda: tf.type_spec_from_value(None))
show(lambda: tf.type_spec_from_value({"a": 1}))
show(lambda: tf.SparseTensorSpec([2, None], tf.int32))
show(lambda: tf.SparseTensorSpec().shape)
show(lambda: tf.IndexedSlicesSpec())
show(lambda: tf.OptionalSpec(tf.TensorSpec([])))
show(lambda: tf.TypeSpec)
show(lambda: tf.TypeSpec())
show(lambda: tf.TensorSpec([2]).is_compatible_with(3))
show(lambda: tf.compat.v1.placeholder(tf.int32))
show(lambda: tf.IndexedSlices([1.0, 2.0], [0, 1], [3]))
show(lambda: tf.IndexedSlices(tf.ones([2, 2]), tf.constant([0, 1])).shape)
show(lambda: str(tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]))))
show(lambda: tf.DeviceSpec(job="worker", device_type="GPU", device_index=1).to_string())
show(lambda: tf.DeviceSpec.from_string("/job:ps/task:1"))
show(lambda: tf.DeviceSpec(job="a") == tf.DeviceSpec(job="a"))
show(lambda: tf.DeviceSpec(job="a").make_merged_spec(tf.DeviceSpec(task=2)))
show(lambda: tf.DeviceSpec(job="a").replace(task=3))
show(lambda: hash(tf.DeviceSpec(job="a")) == hash(tf.DeviceSpec(job="a")))
show(lambda: tf.DeviceSpec.from_string("foo"))
show(lambda: tf.DeviceSpec.from_string("/cpu:x"))
show(lambda: tf.DeviceSpec(task="x"))
show(lambda: tf.config.list_physical_devices())
show(lambda: tf.config.list_logical_devices())
show(lambda: tf.config.list_physical_devices("GPU"))
show(lambda: tf.config.get_visible_devices())
show(lambda: tf.config.set_visible_devices([], "GPU"))
show(lambda: tf.config.set_visible_devices([], "CPU"))
show(
    lambda: tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
)
show(lambda: tf.config.get_logical_device_configuration(tf.config.list_physical_devices("CPU")[0]))
show(lambda: tf.config.LogicalDeviceConfiguration(memory_limit=10))
show(lambda: tf.config.LogicalDeviceConfiguration())
show(lambda: tf.config.set_soft_device_placement(False))
show(lambda: tf.config.get_soft_device_placement())
show(lambda: tf.config.set_soft_device_placement(True))
with tf.device("/gpu:0"):
    print(tf.constant(1).device)
with tf.device("/cpu:5"):
    print(tf.constant(1).device)
with shown():
    with tf.device("foo"):
        tf.constant(1)
with tf.device(None):
    print(tf.constant(1).device)
with shown():
    with tf.device(3):
        print(tf.constant(1).device)
with shown():
    with tf.device(lambda op: "/cpu:0"):
        tf.constant(1)
show(lambda: tf.config.threading.get_inter_op_parallelism_threads())
show(lambda: tf.config.threading.get_intra_op_parallelism_threads())
show(lambda: tf.config.threading.set_inter_op_parallelism_threads(2))
show(lambda: tf.config.experimental.get_device_details(tf.config.list_physical_devices("CPU")[0]))
show(lambda: tf.config.experimental.get_memory_info("CPU:0"))
show(lambda: tf.config.experimental.get_memory_info("GPU:0"))
show(lambda: tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("CPU")[0], True))
show(lambda: tf.config.optimizer.get_jit())
show(lambda: tf.config.optimizer.get_experimental_options())
show(lambda: tf.config.experimental.enable_op_determinism())
show(
    lambda: (
        tf.config.experimental.is_op_determinism_enabled()
        if hasattr(tf.config.experimental, "is_op_determinism_enabled")
        else None
    )
)
show(lambda: tf.test.is_built_with_cuda())
show(lambda: tf.test.gpu_device_name())
show(lambda: tf.version.VERSION)
show(lambda: tf.__version__)
show(lambda: tf.sysconfig.get_build_info()["is_cuda_build"])
