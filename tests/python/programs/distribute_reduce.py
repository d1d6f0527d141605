"""Values of replicas: run, reduce, gather, all_reduce, all_gather, merge_call, per-replica values and their structures."""
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])
ReduceOp = tf.distribute.ReduceOp
print(strategy.num_replicas_in_sync, strategy.extended.worker_devices, strategy.extended.parameter_devices)

values = strategy.experimental_distribute_values_from_function(
    lambda c: tf.constant([1.0 + c.replica_id_in_sync_group, float(c.num_replicas_in_sync)])
)
print(values)
print(repr(values), values.values, values._type_spec, sep="\n")
print(strategy.experimental_distribute_values_from_function(lambda c: c.replica_id_in_sync_group * 2))
for op in (ReduceOp.SUM, ReduceOp.MEAN, "sum", "MEAN"):
    print(op, strategy.reduce(op, values, axis=None), strategy.reduce(op, values, axis=0))
print(strategy.reduce("MEAN", {"a": values, "b": (values,)}, axis=None))
integers = strategy.run(lambda x: tf.cast(x, tf.int32), args=(values,))
print(strategy.reduce("SUM", integers, axis=None), strategy.reduce("MEAN", integers, axis=None))
matrices = strategy.run(lambda x: tf.stack([x, x * 2, x * 3]), args=(values,))
print(strategy.reduce("SUM", matrices, axis=1), strategy.reduce("MEAN", matrices, axis=-1), strategy.reduce("MEAN", matrices, axis=(0, 1)))
print(strategy.gather(values, axis=0), strategy.gather(matrices, axis=1), sep="\n")
print(strategy.reduce("MEAN", 5.0, axis=None), strategy.experimental_local_results(5.0), strategy.experimental_local_results(values))
print(strategy.run(lambda: 3), strategy.run(lambda: None), strategy.run(lambda: {"a": tf.constant(1), "b": ["x", tf.constant(2)]}))
print(strategy.run(lambda a, b, c: a * b + c, args=(values, 2.0), kwargs={"c": values}))


def inside(x):
    context = tf.distribute.get_replica_context()
    total = context.all_reduce(ReduceOp.SUM, x)
    several = context.all_reduce("mean", {"x": x, "y": [x * 2]})
    gathered = context.all_gather(x, axis=0)
    ids = context.replica_id_in_sync_group
    return total, several, gathered, ids, context.num_replicas_in_sync, context.devices


print(strategy.run(inside, args=(values,)))
print(tf.function(lambda: strategy.run(lambda x: inside(x)[:4], args=(values,)))())


def merged(x):
    def merge(strategy, x, factor):
        print("merge:", tf.distribute.in_cross_replica_context(), type(x).__name__, factor)
        return strategy.reduce("SUM", x, axis=None) * factor, x

    return tf.distribute.get_replica_context().merge_call(merge, args=(x,), kwargs={"factor": 2.0})


print(strategy.run(merged, args=(values,)))


def gradients(x):
    context = tf.distribute.get_replica_context()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a = tf.reduce_sum(context.all_reduce(ReduceOp.SUM, x) ** 2)
        b = tf.reduce_sum(context.all_reduce(ReduceOp.MEAN, x) ** 2)
    return tape.gradient(a, x), tape.gradient(b, x)


print(strategy.run(gradients, args=(values,)))


def sparse():
    table = tf.constant([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(table)
        y = tf.reduce_sum(tf.gather(table, [0, tf.distribute.get_replica_context().replica_id_in_sync_group]))
    reduced = tf.distribute.get_replica_context().all_reduce(ReduceOp.SUM, tape.gradient(y, table))
    return tf.convert_to_tensor(reduced)


print(strategy.run(sparse))
print(tf.nest.map_structure(lambda x: x + 1, values, expand_composites=True), tf.nest.flatten(values, expand_composites=True))
print(isinstance(values, tf.distribute.DistributedValues), isinstance(values, tf.types.experimental.distributed.PerReplica))
for ways in (tf.distribute.ReductionToOneDevice(), tf.distribute.HierarchicalCopyAllReduce(num_packs=2)):
    other = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=ways)
    reduced = other.run(lambda: tf.distribute.get_replica_context().all_reduce("SUM", tf.constant([1.0, 2.0])))
    print(type(ways).__name__, other.experimental_local_results(reduced))
ways = tf.distribute.ReductionToOneDevice()
print(ways.reduce(ReduceOp.SUM, values, "CPU:1"), ways.reduce(ReduceOp.MEAN, values, values), ways.broadcast(tf.constant(1.0), values), sep="\n")
print(ways.batch_reduce(ReduceOp.SUM, [(values, "CPU:0"), (values, values)]))
