"""Checkpoints of distributed variables: one value is saved; restored into mirrored and plain variables, at once and later."""
import os
import tempfile

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
SUM, MEAN = tf.VariableAggregation.SUM, tf.VariableAggregation.MEAN
ON_READ = tf.VariableSynchronization.ON_READ


class Model(tf.Module):
    def __init__(self):
        self.w = tf.Variable([[1.0], [2.0]], aggregation=MEAN, name="w")
        self.count = tf.Variable(0.0, synchronization=ON_READ, aggregation=SUM, name="count")
        self.average = tf.Variable(0.0, synchronization=ON_READ, aggregation=MEAN, name="average")
        self.layers = [tf.Variable(1, name="i")]


with strategy.scope():
    model = Model()


@tf.function
def step():
    def replica():
        number = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
        model.w.assign_sub(tf.ones([2, 1]) * number)
        model.count.assign_add(number + 1)
        model.average.assign_add(number + 1)

    strategy.run(replica)


step()
step()
print(model.w, model.count, model.average)
with tempfile.TemporaryDirectory() as folder:
    checkpoint = tf.train.Checkpoint(model=model, epoch=tf.Variable(3))
    path = checkpoint.save(os.path.join(folder, "ckpt"))
    for name, shape in tf.train.list_variables(path):
        print(name, shape, tf.train.load_variable(path, name) if "VARIABLE_VALUE" in name else "")
    model.w.assign([[9.0], [9.0]])
    model.count.assign(100.0)
    status = checkpoint.restore(path)
    status.assert_consumed()
    print(model.w, model.count, model.average)

    class Plain(tf.Module):
        def __init__(self):
            self.w, self.count, self.average = tf.Variable([[0.0], [0.0]]), tf.Variable(0.0), tf.Variable(0.0)
            self.layers = [tf.Variable(5)]

    plain = Plain()
    tf.train.Checkpoint(model=plain).restore(path).expect_partial()
    print(plain.w, plain.count, plain.average)
    with strategy.scope():
        later = tf.Module()
        tf.train.Checkpoint(model=later).restore(path).expect_partial()
        later.w = tf.Variable([[0.0], [0.0]])
        later.count = tf.Variable(0.0, synchronization=ON_READ, aggregation=SUM)
    print(later.w, later.count)
    plain.w.assign([[5.0], [6.0]])
    plain_path = tf.train.Checkpoint(model=plain).write(os.path.join(folder, "plain"))
    with strategy.scope():
        tf.train.Checkpoint(model=model).read(plain_path).expect_partial()
    print(model.w)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    for _ in range(3):
        manager.save()
    print([os.path.basename(p) for p in manager.checkpoints])
    three = tf.distribute.OneDeviceStrategy("CPU:1")
    with three.scope():
        one = Plain()
    tf.train.Checkpoint(model=one).restore(manager.latest_checkpoint).expect_partial()
    print(one.w, one.w.device)
