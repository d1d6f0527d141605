"""strategy.run and tf.function: in each other, with control flow, nested functions, loops, side effects and random numbers."""
import tensorflow as tf

tf.get_logger().setLevel("ERROR")
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
get_context = tf.distribute.get_replica_context
with strategy.scope():
    v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM, name="v")
    steps = tf.Variable(0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA, name="steps")
values = strategy.experimental_distribute_values_from_function(lambda c: tf.constant([1.0, 2.0]) * (1 + c.replica_id_in_sync_group))


@tf.function
def outside(x):
    print("tracing outside", x)

    def replica(x):
        print("tracing replica", get_context().num_replicas_in_sync, x.device)
        return x * v

    return strategy.run(replica, args=(x,))


print(outside(values))
print(outside(values), outside.experimental_get_tracing_count())


@tf.function
def inside(x):
    print("tracing inside", tf.distribute.in_cross_replica_context())
    return x + v


print(strategy.run(inside, args=(values,)))
print(strategy.run(inside, args=(values,)))
print(strategy.run(lambda x: inside(x) * 2, args=(values,)))
print(inside(tf.constant([5.0, 6.0])))


@tf.function
def branches(x):
    def replica(x):
        if tf.reduce_sum(x) > 4.0:
            y = x * 10
        else:
            y = -x
        i = 0
        while i < 3:
            y += 1.0
            i += 1
        for row in x:
            y += row
        return y

    return strategy.run(replica, args=(x,))


print(branches(values))


@tf.function
def loop(n):
    total = tf.constant(0.0)
    for i in tf.range(n):
        step = strategy.run(lambda: get_context().all_reduce("SUM", tf.cast(i, tf.float32)))
        total += strategy.reduce("MEAN", step, axis=None)
        strategy.run(lambda: steps.assign_add(1))
    return total


print(loop(4), steps.read_value())


@tf.function
def meets_twice(x):
    def replica(x):
        context = get_context()
        first = context.all_reduce("SUM", x)
        with tf.control_dependencies([v.assign_add(tf.reduce_sum(first))]):
            second = context.all_reduce("MEAN", x * v)
        return first, second

    return strategy.run(replica, args=(x,))


print(meets_twice(values), v)


@tf.function
def gradients(x):
    def replica(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(x * v * v)
        grad = tape.gradient(loss, v)
        v.assign_sub(0.01 * grad)
        return grad

    return strategy.run(replica, args=(x,))


print(gradients(values), v)
with strategy.scope():
    holder = tf.Module()


@tf.function
def makes(x):
    def replica(x):
        if not hasattr(holder, "w"):
            holder.w = tf.Variable(3.0, name="w")
        return x * holder.w

    with strategy.scope():
        return strategy.run(replica, args=(x,))


print(makes(values), holder.w)


@tf.function
def structures(x):
    return strategy.run(lambda x: {"a": x, "b": (x + 1, [tf.reduce_sum(x)])}, args=(x,)), strategy.experimental_local_results(x)


print(structures(values))
print(strategy.run(lambda: tf.map_fn(lambda x: x * 2, tf.range(3))))
print(strategy.run(lambda x: tf.cond(x[0] > 1.0, lambda: x, lambda: -x), args=(values,)))
print(strategy.run(lambda: tf.random.stateless_normal([2], seed=[1, get_context().replica_id_in_sync_group])))
tf.random.set_seed(1)
print([x.shape for x in strategy.experimental_local_results(strategy.run(lambda: tf.random.uniform([3])))])


@tf.custom_gradient
def clipped(x):
    return x, lambda dy: tf.clip_by_value(dy, -1.0, 1.0)


def custom(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(clipped(x) * 5)
    return tape.gradient(y, x)


print(strategy.run(custom, args=(values,)))
with tf.GradientTape() as tape:
    y = v * 2
    z = strategy.run(lambda: v * 3)
print(tape.gradient(y, v), [x.shape for x in z.values])


@tf.function(input_signature=[values._type_spec])
def with_signature(x):
    return strategy.reduce("SUM", x, axis=None)


print(with_signature(values), with_signature.pretty_printed_concrete_signatures())
