"""The same program under each strategy: the default one, one device, central storage, mirrored on one device, one worker."""
import tensorflow as tf

tf.get_logger().setLevel("ERROR")
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
Aggregation, Synchronization = tf.VariableAggregation, tf.VariableSynchronization
get_context = tf.distribute.get_replica_context


def attempt(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e)[:200])


def program(strategy):
    print("====", type(strategy).__name__, strategy.num_replicas_in_sync, tf.distribute.has_strategy())
    attempt(lambda: (strategy.extended.worker_devices, strategy.extended.parameter_devices))
    with strategy.scope() as entered:
        print(entered is strategy, tf.distribute.get_strategy() is strategy, tf.distribute.in_cross_replica_context())
        v = tf.Variable(1.0, name="v")
        total = tf.Variable([1.0, 2.0], aggregation=Aggregation.SUM, name="total")
        mean = tf.Variable(4.0, aggregation=Aggregation.MEAN, name="mean")
        count = tf.Variable(0.0, synchronization=Synchronization.ON_READ, aggregation=Aggregation.SUM, name="count")
        print(repr(v), repr(count), v.device)
    number = lambda: tf.cast(get_context().replica_id_in_sync_group, tf.float32)  # noqa: E731
    print(v.assign_add(2.0), v.read_value(), v + 1, v.name)
    attempt(lambda: strategy.run(lambda: v.assign_add(1.0)))
    print(strategy.run(lambda: total.assign_add(tf.ones([2]) * (number() + 1))), total)
    print(strategy.run(lambda: mean.assign(number() + 1)), mean)
    attempt(lambda: strategy.run(lambda: count.assign_add(number() + 1)))
    print(count.read_value())
    print(strategy.run(lambda: get_context().all_reduce("SUM", tf.constant([1.0, 2.0]))))
    print(strategy.run(lambda: get_context().all_gather(tf.constant([1.0, 2.0]), axis=0)))
    print(strategy.run(lambda: get_context().merge_call(lambda s, x: s.reduce("SUM", x, axis=None), args=(tf.constant(2.0),))))
    values = strategy.experimental_distribute_values_from_function(lambda c: tf.constant([1.0 + c.replica_id_in_sync_group]))
    print(values, strategy.reduce("SUM", values, axis=None), strategy.reduce("MEAN", values, axis=0), strategy.gather(values, axis=0))
    print(strategy.experimental_local_results(values), strategy.experimental_local_results(v))
    attempt(lambda: strategy.reduce("SUM", 3.0, axis=None))
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(6).batch(4))
    print(dataset.element_spec, list(dataset))
    print(list(strategy.distribute_datasets_from_function(lambda c: tf.data.Dataset.range(4).batch(2))))

    def tape():
        with tf.GradientTape() as t:
            y = v * v
        return t.gradient(y, v), [x.name for x in t.watched_variables()]

    print(strategy.run(tape))
    print(strategy.extended.update(v, lambda v, x: v.assign(x), args=(2.0,)))
    print(strategy.extended.update(v, lambda v, x: v.assign(x), args=(3.0,), group=False))
    print(strategy.run(tf.function(lambda x: x * mean), args=(values,)))
    print(tf.function(lambda: strategy.run(lambda: total.assign_add(tf.constant([1.0, 1.0]))))())

    @tf.function
    def epoch():
        result = tf.constant(0, tf.int64)
        for x in dataset:
            result += strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(x,)), axis=None)
        return result

    print(epoch())
    with strategy.scope():
        with strategy.extended.colocate_vars_with(v):
            print(tf.Variable(3.0).device)
    print(strategy.extended.value_container(v) is v, strategy.extended.variable_created_in_scope(v))
    print(strategy.extended.experimental_require_static_shapes, strategy.extended.should_checkpoint, strategy.extended.should_save_summary)


program(tf.distribute.get_strategy())
program(tf.distribute.OneDeviceStrategy("CPU:1"))
program(tf.distribute.experimental.CentralStorageStrategy())
program(tf.distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"], "CPU:0"))
program(tf.distribute.MirroredStrategy(["CPU:1"]))
program(tf.distribute.MirroredStrategy())
program(tf.distribute.MultiWorkerMirroredStrategy())
print(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.distribute.in_cross_replica_context())
tf.distribute.experimental_set_strategy(tf.distribute.OneDeviceStrategy("CPU:0"))
print(tf.distribute.has_strategy(), tf.distribute.get_replica_context(), tf.Variable(1.0).device)
tf.distribute.experimental_set_strategy(None)
print(tf.distribute.has_strategy())
