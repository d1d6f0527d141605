# tf.function, control flow, gradients and relayout with laid out tensors.
import tensorflow as tf
from tensorflow.experimental import dtensor

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 8
)
DEVICES = [f"CPU:{i}" for i in range(8)]
U = dtensor.UNSHARDED
mesh = dtensor.create_mesh([("x", 4), ("y", 2)], devices=DEVICES)


def make(shape, *specs):
    value = tf.reshape(tf.range(tf.reduce_prod(shape), dtype=tf.float32), shape) / 8
    return dtensor.copy_to_mesh(value, dtensor.Layout(list(specs), mesh))


def specs(t):
    return dtensor.fetch_layout(t).sharding_specs


@tf.function
def product(a, b):
    return tf.matmul(a, b), tf.reduce_sum(a), tf.ones((2, 2))


results = product(make((8, 8), "x", "y"), make((8, 8), "y", U))
for r in results:
    print(specs(r), r.shape)
print(results[1].numpy(), results[2].numpy())


@tf.function
def relaid(a):
    b = dtensor.relayout(a * 2.0, dtensor.Layout([U, "y"], mesh))
    return b + 1.0, dtensor.relayout_like(b, a)


for r in relaid(make((8, 8), "x", U)):
    print(specs(r), tf.reduce_sum(r).numpy())


@tf.function
def branches(a):
    if tf.reduce_sum(a) > 0.0:
        return a * 2.0
    return a


@tf.function
def loop(a):
    for _ in tf.range(3):
        a = a + tf.reduce_mean(a)
    return a


a = make((4, 4), "x", "y")
print(specs(branches(a)), tf.reduce_max(branches(a)).numpy())
print(specs(loop(a)), tf.reduce_max(loop(a)).numpy())


@tf.function
def loss_and_gradients(x, w):
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.tanh(tf.matmul(x, w))
        loss = tf.reduce_sum(y * y)
    return loss, *tape.gradient(loss, [x, w])


for x_specs, w_specs in [(("x", U), (U, "y")), ((U, U), (U, U)), (("x", "y"), ("y", U)), ((U, "x"), ("x", U))]:
    loss, dx, dw = loss_and_gradients(make((4, 4), *x_specs), make((4, 4), *w_specs))
    print(loss.numpy(), specs(dx), specs(dw), tf.reduce_sum(dx).numpy(), tf.reduce_sum(dw).numpy())

# Eager gradients need the mesh around them.
with dtensor.default_mesh(mesh):
    x, w = make((4, 4), "x", U), make((4, 4), U, "y")
    with tf.GradientTape() as tape:
        tape.watch(w)
        loss = tf.reduce_mean(tf.nn.softmax(tf.matmul(x, w)) ** 2)
    gradient = tape.gradient(loss, w)
    print(loss.numpy(), specs(gradient))
    print(tf.zeros((2, 3)), dtensor.get_default_mesh() == mesh)
print(dtensor.get_default_mesh())


@tf.function
def same_in_function(a):
    with tf.name_scope("inner"):
        return dtensor.call_with_layout(tf.identity, dtensor.Layout(["y", U], mesh), a)


print(specs(same_in_function(make((4, 4), U, U))))
x = make((4, 4), "x", U)
x = dtensor.relayout(x, dtensor.Layout([U, "y"], mesh))
print(specs(x), specs(dtensor.relayout(x, dtensor.Layout(["x", dtensor.MATCH], mesh))))
uniform = tf.function(tf.random.stateless_uniform)
r = dtensor.call_with_layout(uniform, dtensor.Layout(["x", "y"], mesh), shape=(4, 4), seed=(1, 2))
print(specs(r), [c.numpy().tolist() for c in dtensor.unpack(r)])


# Random numbers in a function are those of the layout that they come to.
@tf.function
def dropped(x):
    return tf.nn.experimental.stateless_dropout(x, 0.5, seed=(1, 2)), x + tf.random.stateless_normal((8,), (3, 4))


for spec in ("x", "y", U):
    print(spec, [[c.numpy().round(3).tolist() for c in dtensor.unpack(t)] for t in dropped(make((8,), spec) + 1.0)])
