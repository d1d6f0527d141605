"""What a coordinator does with two workers and two parameter servers: parameter_server_program.py CLUSTER_JSON FOLDER. Prints the same on
TensorFlow and on weft. Asks the test that plays it to kill and start tasks (tasks.py)."""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tasks import ask  # noqa: E402

tf.get_logger().setLevel("FATAL")
folder = sys.argv[2]
resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
    tf.train.ClusterSpec(json.loads(sys.argv[1])), rpc_layer="grpc"
)
partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
strategy = tf.distribute.ParameterServerStrategy(resolver, variable_partitioner=partitioner)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)


def short(v):
    return v.device.replace("/replica:0", "").replace("/device:", "/")


def rounded(x):
    return np.round(np.asarray(x, np.float64), 5).tolist()


def attempt(f):
    try:
        return f()
    except Exception as e:
        return type(e).__name__


def variables():
    with strategy.scope():
        scalars = [tf.Variable(float(i), name=f"s{i}") for i in range(3)]
        table = tf.Variable(tf.reshape(tf.range(15.0), [5, 3]), name="table")
        made = tf.Variable(lambda: tf.ones([4, 2]), shape=[4, 2], dtype=tf.float32)
    print(
        [short(v) for v in scalars], [short(v) for v in table.variables], [v.shape.as_list() for v in table.variables]
    )
    print([v.name for v in table.variables], table.shape, table.dtype.name, [v.shape.as_list() for v in made.variables])
    print(
        rounded(tf.nn.embedding_lookup(table.variables, [4, 0, 3])),
        rounded(tf.convert_to_tensor(table)[1]),
        rounded(table + 1.0)[4],
    )
    print(
        rounded(table[1:4]),
        rounded(table[::-2]),
        rounded(table[-1]),
        rounded(table[2, 1]),
        table[3:3].shape,
        rounded(table[..., 0]),
    )
    table.assign(tf.zeros([5, 3]))
    table.assign_add(tf.ones([5, 3]))
    table.scatter_add(tf.IndexedSlices(tf.constant([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]]), tf.constant([1, 4])))
    print(rounded(table.numpy()), rounded(table.sparse_read(tf.constant([4, 1]))))
    print(attempt(lambda: table[7]), attempt(lambda: table[tf.constant(1)]))
    path = tf.train.Checkpoint(table=table, s=scalars[2]).save(os.path.join(folder, "checkpoint"))
    saved = {
        k: v for k, v in tf.train.load_checkpoint(path).get_variable_to_shape_map().items() if "VARIABLE_VALUE" in k
    }
    print(sorted(saved.items()))
    table.assign(tf.zeros([5, 3]))
    scalars[2].assign(9.0)
    tf.train.Checkpoint(table=table, s=scalars[2]).restore(path).assert_consumed()
    print(rounded(table.numpy())[1], float(scalars[2]))
    whole = tf.Variable(tf.zeros([5, 3]))
    tf.train.Checkpoint(table=whole).restore(path).expect_partial()
    print(rounded(whole.numpy())[4])


def schedule():
    with strategy.scope():
        total, scale = tf.Variable(0.0), tf.Variable(2.0)

    @tf.function
    def step(x):
        total.assign_add(x)
        return x * scale

    results = [coordinator.schedule(step, args=(tf.constant(float(i)),)) for i in range(8)]
    coordinator.join()
    print(coordinator.done(), coordinator.fetch(results), float(total))
    print(
        coordinator.fetch({"a": coordinator.schedule(step, kwargs={"x": tf.constant(1.0)}), "b": 3}),
        type(results[0].get()).__name__ != "",
    )

    @tf.function
    def index():
        return tf.distribute.coordinator.experimental_get_current_worker_index()

    seen = set()
    end = time.time() + 120
    while seen != {0, 1} and time.time() < end:
        seen |= {int(i) for i in coordinator.fetch([coordinator.schedule(index) for _ in range(20)])}
    print(sorted(seen))
    print(
        attempt(lambda: coordinator.schedule(lambda: 1)),
        attempt(lambda: coordinator.schedule(step, args=(results[0],))),
    )
    print(tf.distribute.coordinator.ClusterCoordinator(strategy) is coordinator, strategy.num_replicas_in_sync)


def datasets():
    def dataset_fn():
        return strategy.distribute_datasets_from_function(
            lambda context: (
                tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).repeat().batch(3 // context.num_replicas_in_sync)
            )
        )

    @tf.function
    def step(iterator):
        return strategy.run(lambda x: tf.reduce_sum(x), args=(next(iterator),))

    per_worker = coordinator.create_per_worker_dataset(dataset_fn)
    iterator = iter(per_worker)
    print(coordinator.fetch([coordinator.schedule(step, args=(iterator,)) for _ in range(4)]))

    @tf.function
    def once(iterator):
        return next(iterator)

    iterator = iter(coordinator.create_per_worker_dataset(tf.data.Dataset.range(2)))
    results = [coordinator.schedule(once, args=(iterator,)) for _ in range(20)]
    print(attempt(coordinator.join), coordinator.done(), {attempt(r.fetch) for r in results} >= {"OutOfRangeError"})
    print(attempt(lambda: next(iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(2))))))


def training():
    x = np.float32([[1, 2], [3, 4], [5, 6], [0, 1]])
    y = np.float32([[1], [2], [3], [0.5]])
    with strategy.scope():
        w = tf.Variable([[0.5], [-0.5]], name="w")
        b = tf.Variable(0.0, name="b")

    @tf.function
    def step(x, y):
        def replica(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.matmul(x, tf.convert_to_tensor(w)) + b - y) ** 2)
            own = w.variables + [b]
            for v, g in zip(own, tape.gradient(loss, own)):
                v.assign_sub(0.02 * g)
            return loss

        return strategy.run(replica, args=(x, y))

    losses = []
    for _ in range(6):
        losses.append(coordinator.fetch(coordinator.schedule(step, args=(x, y))))
        coordinator.join()
    print(rounded(losses), rounded(w.numpy()), rounded(b.numpy()))


def errors():
    with strategy.scope():
        v = tf.Variable(1.0)

    @tf.function
    def wrong(x):
        tf.debugging.assert_less(x, v)
        return x

    @tf.function
    def right(x):
        return x + v

    first = coordinator.schedule(wrong, args=(tf.constant(5.0),))
    print(attempt(coordinator.join), attempt(first.fetch), coordinator.done())
    print(coordinator.fetch(coordinator.schedule(right, args=(tf.constant(5.0),))), attempt(coordinator.join))


def per_worker_variables():
    """Each worker has its own; outside of functions it is one of the coordinator."""
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], per_worker_variable=True)

    @tf.function
    def step(by):
        v.assign_add([by, by])
        return v + 0.0

    added = coordinator.fetch([coordinator.schedule(step, args=(tf.constant(float(i)),)) for i in range(10)])
    coordinator.join()
    print(type(v).__name__, v.shape, len(added), len(v.read_all()))
    print(rounded(sum(v.read_all())), rounded(v), rounded(tf.function(lambda: v * 2.0)()))
    v.assign([5.0, 6.0])
    print(rounded(v.numpy()), rounded(sum(v.read_all())))


def make_tables():
    """Each worker has a copy of a table that is made in the scope."""
    with strategy.scope():
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
        words = tf.lookup.StaticVocabularyTable(
            tf.lookup.KeyValueTensorInitializer(["x", "y"], tf.constant([0, 1], tf.int64)), 1
        )

    @tf.function
    def find(keys):
        return table.lookup(keys), table.size(), words.lookup(keys) * 0 + words.size()

    @tf.function
    def over(iterator):
        return next(iterator)

    return table, find, over


def tables():
    table, find, over = make_tables()
    found = coordinator.fetch([coordinator.schedule(find, args=(tf.constant(["b", "z", k]),)) for k in "ab" * 4])
    print(type(table).__name__, isinstance(table, tf.lookup.StaticHashTable), [[x.tolist() for x in f] for f in found])
    print(
        table.lookup(tf.constant(["a", "q"])).numpy().tolist(), [x.numpy().tolist() for x in find(tf.constant(["a"]))]
    )
    dataset = coordinator.create_per_worker_dataset(
        lambda: tf.data.Dataset.from_tensors(["a", "c"]).repeat().map(table.lookup)
    )
    print({tuple(coordinator.fetch(coordinator.schedule(over, args=(iter(dataset),)))) for _ in range(4)})
    module = tf.Module()
    module.table = table
    module.find = tf.function(lambda k: table.lookup(k), input_signature=[tf.TensorSpec([None], tf.string)])
    path = os.path.join(folder, "tables")
    tf.saved_model.save(module, path)
    print(tf.saved_model.load(path).find(tf.constant(["b", "z"])).numpy().tolist())


def own_tables():
    """A table of the coordinator itself, made outside of the scope: workers ask it for what they look up."""
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    with strategy.scope():
        scale = tf.Variable(10.0)

    @tf.function
    def find(keys):
        return table.lookup(keys), table.size()

    @tf.function
    def scaled(keys):
        return tf.cast(table.lookup(keys), tf.float32) * scale

    found = coordinator.fetch([coordinator.schedule(find, args=(tf.constant(["b", "z", k]),)) for k in "ab" * 4])
    print([[x.tolist() for x in f] for f in found])
    print(rounded(coordinator.fetch(coordinator.schedule(scaled, args=(tf.constant(["b", "z"]),)))))
    dataset = coordinator.create_per_worker_dataset(
        lambda: tf.data.Dataset.from_tensors(["a", "c"]).repeat().map(table.lookup)
    )
    over = tf.function(lambda iterator: next(iterator))
    print(coordinator.fetch(coordinator.schedule(over, args=(iter(dataset),))).tolist())


def lost_worker():
    table, find, _ = make_tables()
    with strategy.scope():
        count = tf.Variable(0.0)

    @tf.function
    def step(iterator):
        x = tf.random.stateless_normal([100, 100], [1, 2])
        for _ in range(5):
            x = tf.matmul(x, x) * 0.01
        count.assign_add(1.0)
        return tf.reduce_sum(next(iterator)) + 0.0 * tf.reduce_sum(x)

    @tf.function
    def index():
        return tf.distribute.coordinator.experimental_get_current_worker_index()

    iterator = iter(coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.from_tensors([1.0, 2.0]).repeat()))
    results = [coordinator.schedule(step, args=(iterator,)) for _ in range(150)]
    ask("kill", "worker", 0)
    more = [coordinator.schedule(step, args=(iterator,)) for _ in range(50)]
    ask("start", "worker", 0)
    coordinator.join()
    print(coordinator.done(), set(coordinator.fetch(results + more)), 200.0 <= float(count) <= 210.0)
    seen = set()
    end = time.time() + 120
    while seen != {0, 1} and time.time() < end:
        seen |= {int(i) for i in coordinator.fetch([coordinator.schedule(index) for _ in range(20)])}
    print(sorted(seen), set(coordinator.fetch([coordinator.schedule(step, args=(iterator,)) for _ in range(20)])))
    found = coordinator.fetch([coordinator.schedule(find, args=(tf.constant(["b"]),)) for _ in range(20)])
    print({int(x[0][0]) for x in found})


def lost_server():
    with strategy.scope():
        on_both = [tf.Variable(1.0) for _ in range(2)]

    @tf.function
    def step():
        return on_both[0].assign_add(1.0) + on_both[1].assign_add(1.0)

    coordinator.schedule(step)
    coordinator.join()
    ask("kill", "ps", 1)
    results = []
    try:
        for _ in range(10):
            results.append(coordinator.schedule(step))
        coordinator.join()
    except tf.errors.OpError as e:
        print(isinstance(e, tf.errors.UnavailableError), "remote target /job:ps/replica:0/task:1" in str(e))
    print({attempt(r.fetch) for r in results} <= {"UnavailableError", "CancelledError", "AbortedError"})


for f in (
    variables,
    schedule,
    datasets,
    training,
    errors,
    per_worker_variables,
    tables,
    own_tables,
    lost_worker,
    lost_server,
):
    if f.__name__ not in os.environ.get("SECTIONS", f.__name__).split(","):
        continue
    print("==", f.__name__, flush=True)
    f()
print("end", flush=True)
os._exit(0)  # not after the tasks that are gone
