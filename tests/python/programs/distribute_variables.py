"""Variables of MirroredStrategy: what they print, reading and writing in and out of replicas, synchronization and aggregation."""
import copy

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
Aggregation, Synchronization = tf.VariableAggregation, tf.VariableSynchronization


def attempt(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


with strategy.scope():
    v = tf.Variable(1.0, name="v")
    total = tf.Variable([1.0, 2.0], aggregation=Aggregation.SUM, name="total")
    mean = tf.Variable(4.0, aggregation=Aggregation.MEAN, name="mean")
    first = tf.Variable(7, aggregation=Aggregation.ONLY_FIRST_REPLICA, name="first")
    count = tf.Variable(0.0, synchronization=Synchronization.ON_READ, aggregation=Aggregation.SUM, name="count")
    average = tf.Variable(0.0, synchronization=Synchronization.ON_READ, aggregation=Aggregation.MEAN, name="average")
    with tf.name_scope("layer"):
        kernel = tf.Variable(tf.zeros([1, 2]), name="kernel", trainable=False)
for x in (v, total, mean, first, count, average, kernel):
    print(repr(x))
print(v.name, v.dtype, v.shape, v.trainable, count.trainable, kernel.trainable, v.device)
print(v.synchronization, total.aggregation, count.synchronization, count.aggregation)
print([c.name for c in kernel.values], [c.device for c in kernel.values])
print(isinstance(v, tf.Variable), isinstance(v, tf.distribute.DistributedValues), v.distribute_strategy is strategy)
print(strategy.extended.variable_created_in_scope(v), strategy.extended.variable_created_in_scope(tf.Variable(1.0)))
print(strategy.extended.value_container(v.values[1]) is v)

print("-- outside of replicas")
print(v.assign(3.0))
print(v.assign_add(1.0), v.assign_sub(0.5), sep="\n")
print(v.read_value(), v.value(), v.numpy(), v + 1, 2 * v, -v, v == 3.5)
print(total[0], total[1:], tf.gather(total, [1]), tf.reduce_sum(total), tf.convert_to_tensor(total))
print(total.scatter_add(tf.IndexedSlices([10.0], [0])))
attempt(lambda: total.scatter_max(tf.IndexedSlices([1.0], [0])))
print(count.assign(6.0), [c.numpy() for c in count.values])
attempt(lambda: count.assign_add(1.0))
print(average.assign_add(2.0), [c.numpy() for c in average.values])
print(copy.deepcopy(v))

print("-- in replicas")
replica = lambda: tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)  # noqa: E731
print(strategy.run(lambda: v.assign(1.0)))
print(strategy.run(lambda: v.assign_add(replica())), v.values, sep="\n")
v.assign(0.0)
print(strategy.run(lambda: total.assign_add(tf.ones([2]) * (replica() + 1))))
print(total)
strategy.run(lambda: mean.assign(replica() * 10))
print(mean)
strategy.run(lambda: first.assign(tf.cast(replica(), tf.int32) + 5))
print(first)
print(strategy.run(lambda: count.assign_add(replica() + 1)))
print(count.read_value(), count)
strategy.run(lambda: average.assign(replica()))
print(average.read_value(), average.numpy(), average + 1)
print(strategy.run(lambda: (count.read_value(), v.read_value(), total + 1)))
print(strategy.run(lambda: [v.device, v.handle.dtype, v.name]))
print(strategy.run(lambda: total.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([1])))))
print(strategy.reduce("SUM", count, axis=None), strategy.reduce("MEAN", v, axis=None))
print(strategy.experimental_local_results(count), strategy.experimental_local_results(v))


def tape():
    with tf.GradientTape() as t:
        y = (v + 1) * tf.reduce_sum(total)
    return t.gradient(y, [v, total]), [x.name for x in t.watched_variables()]


print(strategy.run(tape))
with tf.GradientTape() as t:
    y = v * 3.0
print(t.gradient(y, v), t.watched_variables())

print("-- made in replicas")


def make():
    w = tf.Variable(2.0, name="made", aggregation=Aggregation.SUM)
    w.assign_add(replica())
    return w


print(strategy.run(make))
print("-- in functions")


@tf.function
def update(x):
    v.assign(x)
    average.assign(x)
    strategy.run(lambda: total.assign(tf.ones([2]) * (replica() + 1)))
    return v + 1, average.read_value(), total.read_value()


print(update(tf.constant(5.0)), v, total)


@tf.function
def use(variable):
    return variable * 2


print(use(v), use(mean), strategy.run(lambda: use(v)))
module = tf.Module()
module.a, module.b = v, [total, count]
print([x.name for x in module.variables], [x.name for x in module.trainable_variables])
