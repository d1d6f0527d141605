"""tf.config: physical, logical and visible devices, virtual devices, placement, threads, device scopes and names."""
import tensorflow as tf

physical = tf.config.list_physical_devices("CPU")
print(physical, physical[0].name, physical[0].device_type)
print(tf.config.list_physical_devices("GPU"))
print(tf.config.get_visible_devices("CPU"))
tf.config.set_logical_device_configuration(physical[0],
                                           [tf.config.LogicalDeviceConfiguration(),
                                            tf.config.LogicalDeviceConfiguration()])
print(len(tf.config.get_logical_device_configuration(physical[0])))
tf.config.threading.set_inter_op_parallelism_threads(2)
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.set_soft_device_placement(True)
logical = tf.config.list_logical_devices("CPU")
print(logical)
print(len(physical), "physical,", len(logical), "logical")
print(tf.config.threading.get_inter_op_parallelism_threads(), tf.config.threading.get_intra_op_parallelism_threads(),
      tf.config.get_soft_device_placement())
with tf.device("CPU:1"):
    a = tf.constant([[1.0, 2.0]])
with tf.device(logical[0].name):
    b = tf.constant([[3.0], [4.0]])
c = tf.matmul(a, b)
print(a.device, b.device)
print(c.numpy(), a.backing_device)
v = None
with tf.device("/device:CPU:1"):
    v = tf.Variable(1.0)
print(v.device)


@tf.function
def f(x):
    with tf.device("CPU:1"):
        y = x + 1.0
    return y


print(f(a).numpy(), [op.device for op in f.get_concrete_function(a).graph.get_operations() if op.type == "AddV2"])
for bad in (lambda: tf.config.set_logical_device_configuration(physical[0], [tf.config.LogicalDeviceConfiguration()]),
            lambda: tf.config.set_visible_devices([], "CPU"),
            lambda: tf.config.threading.set_intra_op_parallelism_threads(4),
            lambda: tf.config.set_visible_devices(physical + physical) or 1,
            lambda: tf.config.experimental.set_memory_growth(physical[0], True)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
for name in ("nothing", "GPU:0", "CPU:7", "/job:worker/CPU:0"):
    try:
        with tf.device(name):
            print(name, tf.constant(1).device)
    except Exception as e:
        print(type(e).__name__)
print(tf.config.optimizer.get_jit() in ("", False, None))
tf.config.optimizer.set_experimental_options({"constant_folding": False})
print(tf.config.optimizer.get_experimental_options()["constant_folding"])
print(tf.test.gpu_device_name() == "", tf.test.is_built_with_cuda() in (True, False))
s = tf.DeviceSpec(job="localhost", replica=0, task=0, device_type="CPU", device_index=1)
print(s.to_string(), s.device_type, s.replace(device_index=0),
      tf.DeviceSpec.from_string("/job:w/task:2/device:GPU:3").task)
print(tf.debugging.get_log_device_placement(), tf.debugging.set_log_device_placement(False))
print(tf.config.experimental.VirtualDeviceConfiguration is tf.config.LogicalDeviceConfiguration,
      tf.config.LogicalDeviceConfiguration(memory_limit=10))
