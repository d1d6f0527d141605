"""A custom training loop with MirroredStrategy, as in the tutorial: distributed batches, losses scaled by the global batch,
gradients reduced over replicas, metrics that are synchronised on read."""
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
print("Number of devices: {}".format(strategy.num_replicas_in_sync))

EPOCHS, GLOBAL_BATCH_SIZE = 3, 8
features = tf.reshape(tf.range(40, dtype=tf.float32), [20, 2]) / 40.0
labels = tf.linalg.matvec(features, [2.0, -1.0]) + 0.5
train = tf.data.Dataset.from_tensor_slices((features, labels)).batch(GLOBAL_BATCH_SIZE)
train_dist = strategy.experimental_distribute_dataset(train)


class Linear(tf.Module):
    def __init__(self):
        self.w = tf.Variable([[0.0], [0.0]], name="w")
        self.b = tf.Variable([0.0], name="b")

    def __call__(self, x):
        return tf.squeeze(tf.matmul(x, self.w) + self.b, axis=1)


class SGD(tf.Module):
    """With momentum: a slot beside every variable."""

    def __init__(self, rate, momentum, variables):
        self.rate = tf.Variable(rate, trainable=False, name="rate")
        self.momentum = momentum
        self.steps = tf.Variable(0, dtype=tf.int64, trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
        self.slots = []
        for v in variables:
            with strategy.extended.colocate_vars_with(v):
                self.slots.append(tf.Variable(tf.zeros(v.shape), trainable=False, name=v.name.split(":")[0] + "/momentum"))

    def apply_gradients(self, grads, variables):
        context = tf.distribute.get_replica_context()
        grads = context.all_reduce(tf.distribute.ReduceOp.SUM, grads)

        def update(strategy, grads):
            for grad, slot, v in zip(grads, self.slots, variables):
                strategy.extended.update(slot, lambda s, g: s.assign(s * self.momentum + g), args=(grad,))
                strategy.extended.update(v, lambda v, s: v.assign_sub(self.rate * s), args=(slot,))

        context.merge_call(update, args=(grads,))
        self.steps.assign_add(1)


with strategy.scope():
    model = Linear()
    optimizer = SGD(0.1, 0.5, model.trainable_variables)
    seen = tf.Variable(0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
print([v.name for v in model.trainable_variables], [s.name for s in optimizer.slots])


def train_step(inputs):
    x, y = inputs
    with tf.GradientTape() as tape:
        per_example = tf.square(model(x) - y)
        loss = tf.nn.compute_average_loss(per_example, global_batch_size=GLOBAL_BATCH_SIZE)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(grads, model.trainable_variables)
    seen.assign_add(tf.shape(x)[0])
    return loss


@tf.function
def distributed_train_step(inputs):
    per_replica = strategy.run(train_step, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)


for epoch in range(EPOCHS):
    total, batches = 0.0, 0
    for x in train_dist:
        total += distributed_train_step(x)
        batches += 1
    print(f"Epoch {epoch + 1}, loss {float(total / batches):.5f}, examples {int(seen.read_value())}, steps {int(optimizer.steps.read_value())}")
print(model.w)
print(model.b)


@tf.function
def train_epoch(dataset):
    total = 0.0
    for x in dataset:
        total += strategy.reduce("SUM", strategy.run(train_step, args=(x,)), axis=None)
    return total


print("whole epoch in a graph:", train_epoch(train_dist))
iterator = iter(train_dist)
print("by an iterator:", distributed_train_step(next(iterator)), distributed_train_step(iterator.get_next()))


@tf.function
def test_step(inputs):
    return strategy.run(lambda x, y: tf.abs(model(x) - y), args=inputs)


for x in strategy.experimental_distribute_dataset(train.take(1)):
    errors = test_step(x)
    print(strategy.gather(errors, axis=0))
    print(strategy.reduce("MEAN", errors, axis=0))
    print(strategy.experimental_local_results(errors))
print(all(bool(tf.reduce_all(a == b)) for a, b in (v.values for v in model.variables)))
