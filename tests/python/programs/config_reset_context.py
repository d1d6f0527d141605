"""tensorflow.python.eager.context._reset_context, as tests of libraries use it: devices are configured anew."""

import tensorflow as tf
from tensorflow.python.eager import context


def attempt(what, function):
    try:
        print(what, function())
    except Exception as error:  # noqa: BLE001
        print(what, type(error).__name__, str(error)[:70])


cpu = tf.config.list_physical_devices("CPU")[0]
one = tf.config.LogicalDeviceConfiguration()
print(tf.constant(1.0).numpy(), [d.name for d in tf.config.list_logical_devices()])
attempt("too late", lambda: tf.config.set_logical_device_configuration(cpu, [one, one]))
context._reset_context()
tf.config.set_logical_device_configuration(cpu, [one, one])
print([d.name for d in tf.config.list_logical_devices("CPU")])
with tf.device("/cpu:1"):
    v = tf.Variable([1.0, 2.0])
    print(v.device, (v + 1.0).device)
attempt("again", lambda: tf.config.set_logical_device_configuration(cpu, [one]))

strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
print(strategy.num_replicas_in_sync)
with strategy.scope():
    w = tf.Variable(2.0, aggregation=tf.VariableAggregation.MEAN)


@tf.function
def step(x):
    return strategy.run(lambda x: w * x, args=(x,))


print([t.numpy() for t in strategy.experimental_local_results(step(tf.constant(3.0)))])

context._reset_context()
print([d.name for d in tf.config.list_logical_devices()])
attempt("too late", lambda: tf.config.set_logical_device_configuration(cpu, [one, one, one]))
context._reset_context()
tf.config.set_logical_device_configuration(cpu, [one, one, one])
print(len(tf.config.list_logical_devices()), tf.add(1, 2).numpy())
print(tf.function(lambda x: x * 2)(tf.constant(4)).numpy())
