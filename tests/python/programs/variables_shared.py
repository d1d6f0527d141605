"""One variable in many places: functions, modules, tapes, datasets, optimisers; updates seen everywhere."""
import tensorflow as tf

shared = tf.Variable(1.0, name="shared")


class Reader(tf.Module):
    def __init__(self, variable):
        super().__init__()
        self.variable = variable

    @tf.function
    def __call__(self, x):
        return x * self.variable


class Writer(tf.Module):
    def __init__(self, variable):
        super().__init__()
        self.variable = variable

    @tf.function(input_signature=[tf.TensorSpec([])])
    def set(self, value):
        self.variable.assign(value)
        return self.variable + 0.0


reader, writer = Reader(shared), Writer(shared)
print(reader(tf.constant(2.0)).numpy())
print(writer.set(5.0).numpy(), reader(tf.constant(2.0)).numpy(), shared.numpy())
both = tf.Module()
both.parts = [reader, writer]
print(len(both.variables), len(both.submodules), [v.name for v in both.trainable_variables])
ds = tf.data.Dataset.range(3).map(lambda i: tf.cast(i, tf.float32) * shared)
print([float(x) for x in ds])
shared.assign(10.0)
print([float(x) for x in ds])


@tf.function
def nested(x):
    a = reader(x)
    writer.set(x)
    return a, reader(x)


print([t.numpy() for t in nested(tf.constant(3.0))])
with tf.GradientTape() as tape:
    loss = reader(tf.constant(4.0)) + shared**2
print(tape.gradient(loss, shared).numpy(), [v.name for v in tape.watched_variables()])
views = [shared, tf.convert_to_tensor(shared), shared.value(), shared + 0.0]
shared.assign(-1.0)
print([v.numpy() for v in views])
matrix = tf.Variable(tf.zeros([3, 2]))


@tf.function
def fill(i):
    matrix.scatter_nd_update(
        [[i]], [tf.fill([2], tf.cast(i, tf.float32) + 1.0)])


for i in range(3):
    fill(tf.constant(i))
print(matrix.numpy().tolist())
counter = {"calls": tf.Variable(0)}


def instrumented(f):
    def wrapper(x):
        counter["calls"].assign_add(1)
        return f(x)
    return wrapper


square = tf.function(instrumented(lambda x: x * x))
print([int(square(tf.constant(k))) for k in range(4)], counter["calls"].numpy())
a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
for _ in range(3):
    with tf.GradientTape() as tape:
        distance = tf.reduce_sum((a - b) ** 2)
    ga, gb = tape.gradient(distance, [a, b])
    a.assign_sub(0.1 * ga)
    b.assign_sub(0.1 * gb)
    print(distance.numpy(), a.numpy(), b.numpy())
