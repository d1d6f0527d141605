"""tf.random.Generator under strategies: every replica draws numbers of its own, from a state that moves on alike."""
import tensorflow as tf

tf.get_logger().setLevel("ERROR")
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategies = [
    tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]),
    tf.distribute.OneDeviceStrategy("CPU:1"),
    tf.distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"], "CPU:0"),
]
for strategy in strategies:
    print(type(strategy).__name__)
    with strategy.scope():
        generator = tf.random.Generator.from_seed(1)
    print(strategy.run(lambda: generator.normal([2])))
    print(generator.state, generator.normal([2]), generator.state)
    print(strategy.run(lambda: (generator.uniform([2]), generator.uniform_full_int([1]), generator.make_seeds(1))))
    print(tf.function(lambda: strategy.run(lambda: generator.uniform([2])))())
    print(generator.skip(3), generator.key)
    generator.reset_from_seed(3)
    print(strategy.run(lambda: generator.truncated_normal([2])))
    print(strategy.run(lambda: tf.random.Generator.from_seed(3).uniform([1])))
    with strategy.scope():
        print(generator.uniform([1]), [g.uniform([1]) for g in generator.split(2)])
outside = tf.random.Generator.from_seed(1)
print(strategies[0].run(lambda: outside.uniform([2])))


@tf.function
def dropout(x):
    return strategies[0].run(lambda x: tf.nn.experimental.stateless_dropout(x, 0.5, seed=[1, 2]), args=(x,))


print(dropout(tf.ones([8])))
