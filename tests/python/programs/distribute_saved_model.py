"""SavedModels of distributed variables: written out of a strategy, loaded without one and in one."""
import os
import tempfile

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
SUM, ON_READ = tf.VariableAggregation.SUM, tf.VariableSynchronization.ON_READ


class Model(tf.Module):
    def __init__(self):
        self.w = tf.Variable([[1.0], [2.0]], name="w", aggregation=tf.VariableAggregation.MEAN)
        self.count = tf.Variable(0.0, synchronization=ON_READ, aggregation=SUM, name="count")

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def __call__(self, x):
        return tf.matmul(x, self.w) + self.count

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def update(self, x):
        self.w.assign(tf.fill([2, 1], x))
        self.count.assign_add(x)
        return self.w * 2.0

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def everywhere(self, x):
        return strategy.reduce("SUM", strategy.run(lambda x: tf.matmul(x, self.w), args=(x,)), axis=None)

    @tf.function
    def scale(self, x):
        return x * self.w


with strategy.scope():
    model = Model()
strategy.run(lambda: model.count.assign_add(3.0))
x = tf.constant([[1.0, 1.0]])
print(model(x), strategy.run(model, args=(x,)), model.everywhere(x), model.scale(tf.constant(3.0)), sep="\n")
with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(model, folder, signatures={"serving_default": model.__call__})
    print([n for n in tf.train.list_variables(os.path.join(folder, "variables", "variables"))])
    loaded = tf.saved_model.load(folder)
    print(loaded.w, loaded.count)
    print(loaded(x), loaded.everywhere(x), loaded.scale(tf.constant(3.0)), loaded.signatures["serving_default"](x), sep="\n")
    print(loaded.update(tf.constant(4.0)), loaded.w.numpy(), loaded.count.numpy())
    with strategy.scope():
        distributed = tf.saved_model.load(folder)
    print(distributed.w, distributed.count)
    print(strategy.run(distributed, args=(x,)))

    def gradient():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(distributed(x))
        return tape.gradient(y, distributed.w)

    print(strategy.run(gradient))
    print(strategy.run(lambda: distributed.update(tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1)))
    print(distributed.w, distributed.count)
    one = tf.distribute.OneDeviceStrategy("CPU:1")
    with one.scope():
        there = tf.saved_model.load(folder)
    print(there.w.device, one.run(there, args=(x,)))
