"""Values of a checkpoint for variables that are made later: in the scope of a strategy, in its functions, in replicas."""

import os
import tempfile

import tensorflow as tf

folder = tempfile.mkdtemp()
cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)


class Layer(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = None

    def __call__(self, x):
        if self.w is None:
            self.w = tf.Variable(tf.ones([2]), name="w")
            self.count = tf.Variable(
                0.0,
                trainable=False,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )
        return x * self.w


layer = Layer()
layer(1.0)
layer.w.assign([3.0, 4.0])
layer.count.assign(8.0)
path = tf.train.Checkpoint(layer=layer).save(os.path.join(folder, "layer"))

STRATEGIES = {
    "one": lambda: tf.distribute.OneDeviceStrategy("/cpu:1"),
    "mirrored": lambda: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
    "default": lambda: tf.distribute.get_strategy(),
}

for name, make in STRATEGIES.items():
    strategy = make()
    with strategy.scope():
        plain = Layer()
        tf.train.Checkpoint(layer=plain).restore(path)
        plain(1.0)
    print(name, "scope", plain.w.numpy(), plain.count.numpy())

    with strategy.scope():
        traced = Layer()
        status = tf.train.Checkpoint(layer=traced).restore(path)

    @tf.function
    def run(x):
        return strategy.run(traced, args=(x,))

    if name == "mirrored":
        with strategy.scope():
            traced(1.0)
    result = run(tf.constant(2.0))
    print(name, "function", [v.numpy() for v in strategy.experimental_local_results(result)], traced.w.numpy(), traced.count.numpy())
    status.assert_consumed()

    with strategy.scope():
        called = Layer()
        tf.train.Checkpoint(layer=called).read(path)
        call = tf.function(lambda x: called(x))
        print(name, "in scope", call(tf.constant(1.0)).numpy() if name != "mirrored" else type(call(tf.constant(1.0))).__name__, called.w.numpy())

    # A variable that is there gets its value at once.
    with strategy.scope():
        v = tf.Variable([0.0, 0.0])
        root = tf.train.Checkpoint(layer=tf.train.Checkpoint(w=v))
        root.restore(path).expect_partial()
    print(name, "there", v.numpy(), [c.numpy() for c in strategy.experimental_local_results(v)])
