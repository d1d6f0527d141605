"""Mistakes with strategies, and what is said of them."""
import re

import tensorflow as tf

tf.get_logger().setLevel("ERROR")
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
other = tf.distribute.OneDeviceStrategy("CPU:0")
get_context = tf.distribute.get_replica_context


def attempt(f):
    try:
        print("no error:", f())
    except Exception as e:
        text = re.sub(r"<[\w.]+ object at 0x\w+>", "<object>", str(e))
        print(type(e).__name__, text.strip().splitlines()[-1] if text else "")


with strategy.scope():
    v = tf.Variable([1.0, 2.0], name="v", aggregation=tf.VariableAggregation.SUM)
    integer = tf.Variable(1, name="integer")
    on_read = tf.Variable(1.0, name="r", synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    unread = tf.Variable(1.0, name="u", synchronization=tf.VariableSynchronization.ON_READ)
    attempt(lambda: other.scope().__enter__())
    attempt(lambda: tf.distribute.get_strategy() is strategy)
    attempt(lambda: tf.Variable(1, aggregation=tf.VariableAggregation.MEAN))
    attempt(lambda: tf.Variable(1, synchronization=tf.VariableSynchronization.NONE, name="x"))
    attempt(lambda: strategy.extended.colocate_vars_with(tf.Variable(1.0).values[0]))
    attempt(lambda: other.run(lambda: 1))
    attempt(lambda: tf.distribute.experimental_set_strategy(strategy))
    attempt(lambda: v.handle)
values = strategy.run(lambda: tf.constant([1.0, 2.0]))
attempt(lambda: values + 1)
attempt(lambda: tf.add(values, 1))
attempt(lambda: strategy.reduce("product", values, axis=None))
attempt(lambda: strategy.reduce("SUM", 3.0, axis=None))
attempt(lambda: strategy.run(lambda x: x, args=3))
attempt(lambda: strategy.run(lambda: strategy.reduce("SUM", 1.0, axis=None)))
attempt(lambda: strategy.run(lambda: strategy.gather(tf.constant([1.0]), axis=0)))
attempt(lambda: strategy.run(lambda: strategy.run(lambda: 1)))
attempt(lambda: strategy.run(lambda: other.run(lambda: 1)))
attempt(lambda: strategy.run(lambda: 1 / 0))
attempt(lambda: strategy.run(lambda: tf.reshape(tf.range(3), [2, 2])))
attempt(lambda: strategy.run(lambda: v.assign([1.0, 2.0])))
attempt(lambda: strategy.run(lambda: v.assign(tf.constant([1.0, 2.0, 3.0]))))
attempt(lambda: v.assign([1.0]))
attempt(lambda: on_read.assign_add(1.0))
attempt(lambda: on_read.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))))
attempt(lambda: unread.read_value())
attempt(lambda: get_context().merge_call(lambda s: s is tf.distribute.get_strategy()))


def uneven():
    if get_context().replica_id_in_sync_group == 0:
        get_context().merge_call(lambda s: None)


attempt(lambda: strategy.run(uneven))


def nested():
    @tf.function
    def inner():
        return get_context().all_reduce("SUM", tf.constant(1.0))

    return inner()


attempt(lambda: strategy.run(nested))


@tf.function
def conditional(x):
    def replica():
        if x > 0:
            return get_context().all_reduce("SUM", x)
        return x

    return strategy.run(replica)


attempt(lambda: conditional(tf.constant(1.0)))
saved = strategy.run(get_context)
attempt(lambda: saved.values[0].merge_call(lambda s: 1))
attempt(lambda: strategy.run(lambda: saved.values[0].merge_call(lambda s: 1)))


def failing(strategy):
    raise KeyError("in merge_call")


attempt(lambda: strategy.run(lambda: get_context().merge_call(failing)))
attempt(lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:0"]))
attempt(lambda: tf.distribute.MirroredStrategy(["/job:a/task:0/device:CPU:0", "CPU:1"]))
attempt(lambda: tf.distribute.MirroredStrategy(["/job:a/task:0/device:CPU:0", "/job:a/task:1/device:CPU:0"]))
attempt(lambda: tf.distribute.ReduceOp("max"))
attempt(lambda: tf.distribute.InputContext(1, 0, 3).get_per_replica_batch_size(8))
attempt(lambda: tf.distribute.NcclAllReduce(num_packs=-1))
attempt(lambda: tf.distribute.CrossDeviceOps().reduce("SUM", values, "CPU:0"))
attempt(lambda: tf.distribute.ReductionToOneDevice().reduce("SUM", values, 3))
attempt(lambda: tf.distribute.experimental.CommunicationOptions(bytes_per_pack=-1))
attempt(lambda: tf.distribute.experimental.CommunicationOptions(implementation=3))
attempt(lambda: strategy.make_input_fn_iterator(None, tf.distribute.InputReplicationMode.PER_REPLICA))
attempt(lambda: tf.distribute.DistributedIterator.get_next(None))
attempt(lambda: strategy.__copy__())
print(v, strategy.run(lambda: v + 1), tf.distribute.has_strategy())
