"""What every worker of a MultiWorkerMirroredStrategy does: mirrored_program.py FOLDER, with TF_CONFIG. Prints the same on TensorFlow and on
weft, on every worker where it says so, whatever the others are."""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.get_logger().setLevel("FATAL")
folder = sys.argv[1]
config = json.loads(os.environ["TF_CONFIG"])
workers, index = len(config["cluster"]["worker"]), config["task"]["index"]
strategy = tf.distribute.MultiWorkerMirroredStrategy()
extended = strategy.extended


def rounded(x):
    return np.round(np.asarray(x, np.float64), 5).tolist()


def whole(values):
    """Of what a replica of this worker has, the sum over all workers."""
    return rounded(strategy.reduce("SUM", values, axis=None))


def facts():
    print(
        strategy.num_replicas_in_sync, extended.worker_devices == (f"/job:worker/replica:0/task:{index}/device:CPU:0",)
    )
    print(
        extended.should_checkpoint == (index == 0),
        extended.should_save_summary == (index == 0),
        strategy.cluster_resolver.task_id == index,
    )
    ids = strategy.run(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group)
    print(int(ids) == index, extended._in_multi_worker_mode())


def variables():
    with strategy.scope():
        v = tf.Variable([1.0 + index, 2.0])  # the chief's
        n = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
        m = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)
        i = tf.Variable(0, dtype=tf.int64, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
    print(rounded(v.numpy()), v.device == f"/job:worker/replica:0/task:{index}/device:CPU:0")

    @tf.function
    def step():
        def replica():
            number = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
            n.assign_add(number + 1.0)
            m.assign(number + 1.0)
            i.assign_add(1)

        strategy.run(replica)

    step()
    step()
    print(float(n.read_value()), float(m.read_value()), int(i.read_value()))
    v.assign_add([1.0, 1.0])
    print(rounded(v.numpy()))


def values():
    def replica(x):
        context = tf.distribute.get_replica_context()
        number = tf.cast(context.replica_id_in_sync_group, tf.float32)
        total = context.all_reduce(tf.distribute.ReduceOp.SUM, {"a": number + x, "b": [number * tf.ones([2, 2])]})
        mean = context.all_reduce(tf.distribute.ReduceOp.MEAN, number)
        rows = context.all_gather(tf.fill([context.replica_id_in_sync_group + 1, 2], number), axis=0)
        columns = context.all_gather(tf.fill([2, context.replica_id_in_sync_group + 1], number), axis=1)
        return total, mean, rows, columns

    for run in (strategy.run, lambda *args, **kwargs: tf.function(lambda: strategy.run(*args, **kwargs))()):
        total, mean, rows, columns = run(replica, args=(tf.constant(10.0),))
        print(rounded(total["a"]), rounded(total["b"]), rounded(mean), rounded(rows), rounded(columns))
    made = strategy.experimental_distribute_values_from_function(
        lambda c: tf.constant([c.replica_id_in_sync_group, c.num_replicas_in_sync])
    )
    print(whole(made), rounded(strategy.reduce("MEAN", made, axis=None)), rounded(strategy.gather(made, axis=0)))

    @tf.function
    def slices(rows):
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        own = tf.IndexedSlices(
            tf.ones([rows, 2]) * tf.cast(number + 1, tf.float32), tf.range(rows), dense_shape=tf.constant([5, 2])
        )
        return tf.convert_to_tensor(tf.distribute.get_replica_context().all_reduce("SUM", own))

    for rows in (2, 1 + index):
        print(rounded(strategy.run(slices, args=(tf.constant(rows),))))


def gradients():
    def replica():
        context = tf.distribute.get_replica_context()
        x = tf.cast(context.replica_id_in_sync_group + 1, tf.float32)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = context.all_reduce("SUM", x * x)
        return tape.gradient(y, x)

    print(whole(strategy.run(tf.function(replica))))


def options_of(dataset, policy):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = policy
    return dataset.with_options(options)


def input_():
    policies = tf.data.experimental.AutoShardPolicy
    names = [os.path.join(folder, f"lines_{i}") for i in range(4)]
    files = tf.data.TextLineDataset(names).map(lambda line: tf.strings.to_number(line)).batch(4)
    datasets = {
        "auto": tf.data.Dataset.range(11).batch(4),
        "off": options_of(tf.data.Dataset.range(6).batch(4), policies.OFF),
        "data": options_of(files, policies.DATA),
        "file": options_of(files, policies.FILE),
        "static": tf.data.Dataset.range(10).batch(4, drop_remainder=True),
    }
    for name, dataset in datasets.items():
        distributed = strategy.experimental_distribute_dataset(dataset)
        parts = [
            strategy.run(
                lambda x: tf.stack([tf.reduce_sum(tf.cast(x, tf.float32)), tf.cast(tf.size(x), tf.float32)]), args=(x,)
            )
            for x in distributed
        ]
        print(name, [whole(p) for p in parts])

    @tf.function
    def count(iterator):
        found = tf.constant(0, tf.int64)
        for _ in range(2):
            found += strategy.reduce("SUM", next(iterator), axis=0)
        return found

    print(int(count(iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(4))))))

    def unequal(context):
        print(
            context.num_input_pipelines,
            context.input_pipeline_id == index,
            context.get_per_replica_batch_size(workers * 3),
        )
        return tf.data.Dataset.range(2 + context.input_pipeline_id).batch(1)

    sizes = [
        strategy.reduce("SUM", strategy.run(tf.size, args=(x,)), axis=None)
        for x in strategy.distribute_datasets_from_function(unequal)
    ]
    print([int(s) for s in sizes])


def hints():
    """Datasets that say where they are to be divided."""
    hint, policy = tf.data.experimental.SHARD_HINT, tf.data.experimental.AutoShardPolicy.HINT
    for dataset in (
        tf.data.Dataset.range(12).map(lambda x: x * 2).shard(hint, hint).batch(4),
        tf.data.Dataset.range(12).batch(4),
    ):
        distributed = strategy.experimental_distribute_dataset(options_of(dataset, policy))
        print([whole(strategy.run(tf.reduce_sum, args=(x,))) for x in distributed])


def data():
    rng = np.random.RandomState(3)
    x = rng.uniform(-1, 1, [64, 8]).astype(np.float32)
    return x, (x @ rng.uniform(-1, 1, [8, 1]) + 0.3).astype(np.float32)


def training():
    """The losses of one process with the whole batch."""
    x, y = data()
    with strategy.scope():
        w1 = tf.Variable(tf.random.stateless_uniform([8, 16], [1, index], -0.3, 0.3))
        w1.assign(tf.random.stateless_uniform([8, 16], [1, 2], -0.3, 0.3))
        b1, w2 = tf.Variable(tf.zeros([16])), tf.Variable(tf.random.stateless_uniform([16, 1], [3, 4], -0.3, 0.3))
        own = [w1, b1, w2]

    @tf.function
    def step(batch):
        def replica(batch):
            x, y = batch
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((tf.tanh(x @ w1 + b1) @ w2 - y) ** 2) / 16.0
            grads = tf.distribute.get_replica_context().all_reduce("SUM", tape.gradient(loss, own))
            for v, g in zip(own, grads):
                v.assign_sub(0.1 * g)
            return loss

        return strategy.reduce("SUM", strategy.run(replica, args=(batch,)), axis=None)

    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(16).repeat(3))
    losses = [step(batch) for batch in dataset]
    print(rounded(losses), rounded(w2.numpy()[0]))


def checkpoints():
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
        n = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    strategy.run(lambda: n.assign(1.0))
    own = os.path.join(folder, "saved" if index == 0 else f"other_{index}")  # all take part, the chief's is kept
    path = tf.train.Checkpoint(v=v, n=n).save(os.path.join(own, "c"))
    v.assign([0.0, 0.0])
    strategy.run(lambda: n.assign(9.0))
    tf.train.Checkpoint(v=v, n=n).restore(path)
    print(
        rounded(v.numpy()),
        float(n.read_value()),
        rounded(tf.train.load_checkpoint(path).get_tensor("n/.ATTRIBUTES/VARIABLE_VALUE")),
    )


sections = {f.__name__: f for f in (facts, variables, values, gradients, input_, training, checkpoints, hints)}
for name in os.environ["SECTIONS"].split(","):
    print("==", name, flush=True)
    sections[name]()
print("end", flush=True)
strategy.reduce("SUM", tf.constant(0.0), axis=None)  # nobody leaves before all are here
