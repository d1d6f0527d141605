# Variables with layouts: making, reading, assigning, updating in functions.
import tensorflow as tf
from tensorflow.experimental import dtensor

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 8
)
DEVICES = [f"CPU:{i}" for i in range(8)]
U = dtensor.UNSHARDED
mesh = dtensor.create_mesh([("x", 2), ("y", 4)], devices=DEVICES)

value = dtensor.call_with_layout(tf.ones, dtensor.Layout(["x", U], mesh), shape=(4, 2))
v = dtensor.DVariable(value)
print(v)
print(v.layout.sharding_specs, v.shape, v.dtype, v.name, v.trainable, dtensor.is_dtensor(v))
print(dtensor.fetch_layout(v) == v.layout, isinstance(v, tf.Variable))
w = dtensor.DVariable(dtensor.call_with_layout(tf.zeros, dtensor.Layout.replicated(mesh, 1), shape=(4,)), name="bias")
print(w, w.numpy())

# Ops read it; assignments keep its layout.
total = tf.reduce_sum(v * 3.0)
print(total.numpy(), dtensor.fetch_layout(v * 3.0).sharding_specs)
new = dtensor.copy_to_mesh(tf.reshape(tf.range(8.0), (4, 2)), dtensor.Layout.replicated(mesh, 2))
v.assign(new)
print(dtensor.fetch_layout(v.read_value()).sharding_specs)
print([c.numpy().tolist() for c in dtensor.unpack(v.read_value())])
v.assign_add(v)
v.assign_sub(dtensor.call_with_layout(tf.ones, dtensor.Layout(["x", U], mesh), shape=(4, 2)))
print(tf.reduce_sum(v).numpy())
print(w.assign_add(dtensor.copy_to_mesh([1.0, 2.0, 3.0, 4.0], dtensor.Layout.replicated(mesh, 1))))

try:
    dtensor.DVariable(tf.ones((2,)))
except tf.errors.InvalidArgumentError as e:
    print(e.message)
try:
    w.assign(tf.ones((4,)))
except tf.errors.UnimplementedError as e:
    print(e.message.split(" Currently")[0])


@tf.function
def update():
    v.assign(v * 0.5)
    return v.read_value()


print(dtensor.fetch_layout(update()).sharding_specs, tf.reduce_sum(v).numpy())


class Dense(tf.Module):
    def __init__(self, size_in, size_out, layout):
        super().__init__()
        self.w = dtensor.DVariable(dtensor.call_with_layout(tf.ones, layout, shape=(size_in, size_out)), name="w")
        self.b = dtensor.DVariable(dtensor.call_with_layout(tf.zeros, layout.delete([0]), shape=(size_out,)), name="b")

    @tf.function
    def __call__(self, x):
        return tf.nn.relu(tf.matmul(x, self.w) + self.b)


for specs in [(U, U), (U, "y"), ("x", U)]:
    layer = Dense(4, 8, dtensor.Layout(list(specs), mesh))
    x = dtensor.copy_to_mesh(tf.ones((2, 4)), dtensor.Layout([U, U], mesh))
    y = layer(x)
    print(specs, dtensor.fetch_layout(y).sharding_specs, tf.reduce_sum(y).numpy())
    print([(t.name, t.shape, t.layout.sharding_specs) for t in layer.trainable_variables])


@tf.function
def step(layer, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(layer(x) ** 2)
    gradients = tape.gradient(loss, layer.trainable_variables)
    for variable, gradient in zip(layer.trainable_variables, gradients):
        variable.assign_sub(gradient * 0.05)
    return loss


layer = Dense(4, 8, dtensor.Layout([U, "y"], mesh))
x = dtensor.copy_to_mesh(tf.ones((2, 4)), dtensor.Layout(["x", U], mesh))
for _ in range(3):
    print(step(layer, x).numpy())
print(layer.b.layout.sharding_specs, [c.numpy().tolist() for c in dtensor.unpack(layer.b.read_value())])
