"""Distributed datasets: how batches are divided, what the last ones are, datasets of a function, iterators, functions that take them."""
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
three = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])
Dataset, Policy = tf.data.Dataset, tf.data.experimental.AutoShardPolicy


def show(dataset, strategy=strategy):
    print(dataset.element_spec)
    for x in dataset:
        print("  ", strategy.experimental_local_results(x))


for n, batch, drop in ((9, 4, False), (9, 4, True), (6, 4, False), (7, 3, False), (7, 3, True), (10, 8, False)):
    print(n, batch, drop)
    dataset = Dataset.range(n).batch(batch, drop_remainder=drop)
    show(strategy.experimental_distribute_dataset(dataset))
    show(three.experimental_distribute_dataset(dataset), three)
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = Policy.OFF
print("policy off")
show(strategy.experimental_distribute_dataset(Dataset.range(6).batch(4).with_options(options)))
print("structures")
slices = Dataset.from_tensor_slices({"a": [1.0, 2.0, 3.0], "b": [[1, 2], [3, 4], [5, 6]]})
show(strategy.experimental_distribute_dataset(slices.batch(2)))
show(strategy.experimental_distribute_dataset(slices.batch(2).map(lambda x: (x["a"], x["b"])).prefetch(1)))
show(strategy.experimental_distribute_dataset(Dataset.from_tensors(tf.range(4.0))))
show(strategy.experimental_distribute_dataset(Dataset.range(1, 6).map(lambda x: tf.fill([x], x)).padded_batch(4)))
ragged = Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3], [4, 5, 6], [7]])).batch(3)
for x in strategy.experimental_distribute_dataset(ragged):
    print(strategy.run(lambda r: r.row_lengths(), args=(x,)))


def make(context):
    print(context, context.num_input_pipelines, context.input_pipeline_id, context.get_per_replica_batch_size(8))
    return Dataset.range(7).batch(2).shard(context.num_input_pipelines, context.input_pipeline_id)


print("from a function")
show(strategy.distribute_datasets_from_function(make))
per_replica = tf.distribute.InputOptions(experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA)
show(strategy.distribute_datasets_from_function(make, per_replica))

print("iterators")
distributed = strategy.experimental_distribute_dataset(Dataset.range(9).batch(4))
print(type(distributed).__name__, isinstance(distributed, tf.distribute.DistributedDataset), distributed.cardinality)
iterator = iter(distributed)
print(type(iterator).__name__, isinstance(iterator, tf.distribute.DistributedIterator), iterator.element_spec)
print(iterator.get_next(), next(iterator))
optional = iterator.get_next_as_optional()
print(optional.has_value(), optional.get_value(), iterator.get_next_as_optional().has_value())
try:
    next(iterator)
except StopIteration:
    print("StopIteration")
try:
    iterator.get_next()
except tf.errors.OutOfRangeError as e:
    print(type(e).__name__)


@tf.function
def step(iterator):
    return strategy.run(lambda x: x * 10, args=(next(iterator),))


iterator = iter(distributed)
for _ in range(3):
    print(step(iterator))
try:
    step(iterator)
except tf.errors.OutOfRangeError as e:
    print(type(e).__name__)
print(step.experimental_get_tracing_count())


@tf.function
def epoch(dataset):
    total, steps = tf.constant(0, tf.int64), 0
    for x in dataset:
        total += strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(x,)), axis=None)
        steps += 1
    return total, steps


print(epoch(distributed), distributed.reduce(tf.constant(0, tf.int64), lambda s, x: s + strategy.reduce("SUM", x, axis=0)))


@tf.function
def some(iterator, n):
    seen = tf.constant(0, tf.int64)
    for _ in tf.range(n):
        seen += strategy.reduce("SUM", strategy.run(lambda x: tf.size(x, tf.int64), args=(next(iterator),)), axis=None)
    return seen


print(some(iter(strategy.experimental_distribute_dataset(Dataset.range(40).batch(4))), 3))
repeated = iter(strategy.experimental_distribute_dataset(Dataset.range(4).batch(4).repeat()))
print([int(strategy.reduce("SUM", next(repeated), axis=0)) for _ in range(3)])
for f in (lambda: strategy.run(lambda: next(iterator)), lambda: strategy.experimental_distribute_dataset(Dataset.range(3).batch(2), per_replica)):
    try:
        f()
    except (ValueError, NotImplementedError) as e:
        print(type(e).__name__, e)
print(tf.distribute.InputOptions(), tf.distribute.InputContext(2, 1, 4), tf.distribute.experimental.ValueContext(1, 2), sep="\n")
