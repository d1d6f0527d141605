"""Values of several replicas in loops, reductions and gathers; datasets with fewer elements than replicas."""

import tensorflow as tf
from calls import tell

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 3)
S = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])
one = tf.distribute.OneDeviceStrategy("CPU:0")
default = tf.distribute.get_strategy()
R, X = tf.distribute.ReduceOp, S.extended


def made(function):
    return S.experimental_distribute_values_from_function(function)


ints = made(lambda c: tf.constant(c.replica_id_in_sync_group))
rows = made(lambda c: tf.range(c.replica_id_in_sync_group + 1))
pairs = made(lambda c: tf.constant([[c.replica_id_in_sync_group, 10]]))
mixed = made(lambda c: {"a": c.replica_id_in_sync_group, "b": [float(c.num_replicas_in_sync)]})
texts = made(lambda c: f"replica {c.replica_id_in_sync_group}")
with S.scope():
    v = tf.Variable(1.0)
    total = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)


@tf.function
def loop(n):
    out = tf.zeros([])
    for i in tf.range(n):
        per = S.run(lambda: tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + tf.cast(i, tf.float32))
        out += S.reduce(R.SUM, per, axis=None)
    return out


@tf.function
def carried(x):
    for _ in tf.range(2):
        x = S.run(lambda y: y * 2, args=(x,))
    return x


@tf.function
def whiled(x):
    i = 0
    while i < 3:
        x = S.run(lambda y: y + 1, args=(x,))
        i += 1
    return S.experimental_local_results(x)


@tf.function
def branch(x, flag):
    if flag:
        y = S.run(lambda a: a + 1, args=(x,))
    else:
        y = S.run(lambda a: a - 1, args=(x,))
    return y


@tf.function
def over(dataset):
    n = tf.constant(0, tf.int64)
    for batch in dataset:
        per = S.run(lambda b: tf.reduce_sum(b), args=(batch,))
        n += S.reduce(R.SUM, per, axis=None)
    return n


def short(count, batch, **options):
    ds = tf.data.Dataset.range(count).batch(batch, **options)
    return S.experimental_distribute_dataset(ds)


def shapes(dataset):
    return [[x.numpy().tolist() for x in S.experimental_local_results(batch)] for batch in dataset]


def in_replica(function, *args, **kwargs):
    return S.run(function, args=args, kwargs=kwargs)


tell(
    """
    ints
    rows
    mixed
    texts
    str(ints)
    S.experimental_local_results(ints)
    S.experimental_local_results(mixed)
    S.experimental_local_results(5)
    S.experimental_local_results(tf.constant(5))
    S.experimental_local_results(v)
    one.experimental_local_results(5)
    default.experimental_local_results(None)
    S.reduce(R.SUM, ints, axis=None)
    S.reduce(R.MEAN, made(lambda c: float(c.replica_id_in_sync_group)), axis=None)
    S.reduce("SUM", ints, axis=None)
    S.reduce("MAX", ints, axis=None)
    S.reduce(tf.distribute.ReduceOp.MEAN, ints, axis=None)
    S.reduce(R.SUM, rows, axis=0)
    S.reduce(R.MEAN, rows, axis=0)
    S.reduce(R.SUM, rows, axis=None)
    S.reduce(R.SUM, pairs, axis=0)
    S.reduce(R.SUM, pairs, axis=1)
    S.reduce(R.MEAN, made(lambda c: tf.ones([c.replica_id_in_sync_group, 2])), axis=0)
    S.reduce(R.SUM, 5, axis=None)
    S.reduce(R.SUM, 5.0, axis=None)
    S.reduce(R.MEAN, 5.0, axis=None)
    S.reduce(R.SUM, tf.constant([1, 2]), axis=0)
    S.reduce(R.SUM, mixed, axis=None)
    S.reduce(R.SUM, None, axis=None)
    S.reduce(R.SUM, v, axis=None)
    S.reduce(R.SUM, total, axis=None)
    one.reduce(R.SUM, 5.0, axis=None)
    one.reduce(R.SUM, tf.constant([1.0, 2.0]), axis=0)
    default.reduce(R.SUM, tf.constant([1.0, 2.0]), axis=0)
    default.reduce(R.MEAN, tf.constant([1.0, 2.0]), axis=None)
    S.gather(rows, 0)
    S.gather(pairs, 0)
    S.gather(pairs, 1)
    S.gather(ints, 0)
    S.gather(tf.constant([1, 2]), 0)
    S.gather(rows, 1)
    S.gather(rows, -1)
    one.gather(tf.constant([1]), 0)
    default.gather(tf.constant([1]), 0)
    X.reduce_to(R.SUM, ints, v)
    X.reduce_to(R.SUM, ints, destinations="/cpu:0")
    X.reduce_to(R.MEAN, made(lambda c: float(c.replica_id_in_sync_group)), ints)
    X.reduce_to(R.SUM, 3.0, v)
    X.reduce_to(R.SUM, ints, destinations="")
    X.reduce_to(R.SUM, ints, destinations=[])
    X.reduce_to(R.SUM, ints, destinations=None)
    X.reduce_to("MAX", ints, v)
    X.batch_reduce_to(R.SUM, [(ints, v), (ints, v)])
    X.broadcast_to(tf.constant(3), v)
    X.broadcast_to(tf.constant(3), "/cpu:1")
    X.update(v, lambda x, d: x.assign_add(d), args=(1.0,))
    X.update(v, lambda x, d: x.assign_add(d), args=(made(lambda c: 2.0),), group=False)
    X.update(v, lambda x: x.value(), group=False)
    X.update(v, lambda x, d: x.assign(d), kwargs={"d": 5.0})
    v
    X.update(tf.constant(1.0), lambda x: x)
    X.value_container(v.values[0]) is v
    X.worker_devices
    X.parameter_devices
    X.non_slot_devices([v])
    X.experimental_require_static_shapes
    X.colocate_vars_with(v)
    in_replica(lambda x: x + 1, ints)
    in_replica(lambda x: x["a"] * 2, mixed)
    in_replica(lambda x, y: (x, [y]), ints, y=rows)
    in_replica(lambda: None)
    in_replica(lambda: "text")
    in_replica(lambda: (1, None, v))
    in_replica(lambda: tf.distribute.get_replica_context())
    in_replica(lambda: tf.distribute.get_replica_context().all_reduce(R.SUM, tf.constant(2.0)))
    in_replica(lambda: tf.distribute.get_replica_context().all_gather(tf.constant([2.0]), 0))
    in_replica(lambda x: tf.distribute.get_replica_context().all_reduce(R.SUM, [x, {"k": x}]), ints)
    in_replica(lambda: total.assign_add(1.0))
    total
    total.read_value()
    in_replica(lambda x: 1 / 0, ints)
    S.run(lambda: 1, options=tf.distribute.RunOptions())
    S.run(lambda: 1, options=tf.distribute.RunOptions(experimental_enable_dynamic_batch_size=False))
    S.run(lambda: 1, options=None)
    S.run(lambda x: x, (ints,))
    S.run(lambda x: x, args=ints)
    S.run(lambda x: x, args=[ints])
    S.run(lambda x: x, kwargs={"x": 1})
    S.run(lambda x: x)
    S.run(5)
    loop(tf.constant(3))
    carried(ints)
    whiled(ints)
    branch(ints, tf.constant(True))
    branch(ints, tf.constant(False))
    tf.function(lambda x: S.reduce(R.SUM, x, None))(ints)
    tf.function(lambda x: S.gather(x, 0))(pairs)
    tf.function(lambda x: x)(ints)
    tf.function(lambda x: S.experimental_local_results(x))(rows)
    shapes(short(1, 3))
    shapes(short(2, 3))
    shapes(short(7, 3))
    shapes(short(4, 6))
    shapes(short(5, 2))
    shapes(short(0, 3))
    shapes(short(7, 3, drop_remainder=True))
    over(short(7, 3))
    over(short(1, 3))
    over(short(0, 3))
    short(7, 3).element_spec
    short(6, 3, drop_remainder=True).element_spec
    [S.experimental_local_results(S.run(lambda b: tf.shape(b), args=(b,))) for b in short(4, 3)]
    [S.gather(b, 0).numpy().tolist() for b in short(7, 3)]
    [S.reduce(R.SUM, b, axis=0).numpy() for b in short(7, 3)]
    [S.reduce(R.MEAN, S.run(lambda x: tf.cast(x, tf.float32), args=(b,)), axis=0).numpy() for b in short(7, 3)]
    next(iter(short(7, 3)))
    iter(short(7, 3)).get_next_as_optional().has_value()
    made(5)
    made(lambda: 1)
    made(lambda c: None)
    made(lambda c: object) is None
    len(ints.values)
    ints.values[1]
    isinstance(ints, tf.distribute.DistributedValues)
    isinstance(ints, tf.types.experimental.distributed.PerReplica)
    isinstance(v, tf.distribute.DistributedValues)
    isinstance(v, tf.types.experimental.distributed.Mirrored)
    ints + 1
    ints.dtype
    bool(ints)
    tf.convert_to_tensor(ints)
    tf.add(ints, 1)
    tf.nest.flatten(ints)
    tf.nest.flatten(ints, expand_composites=True)
    tf.type_spec_from_value(ints)
    tf.type_spec_from_value(rows)
    """,
    globals(),
)
