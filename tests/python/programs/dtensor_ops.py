# Ops on laid out tensors: which layouts their results have.
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


def show(label, t):
    print(label, dtensor.fetch_layout(t).sharding_specs, t.shape)


def whole(t):
    return dtensor.relayout(t, dtensor.Layout.replicated(mesh, len(t.shape))).numpy()


a, b = make((4, 8), "x", U), make((8, 4), U, "y")
c = tf.matmul(a, b)
show("matmul", c)
print(whole(c))
for left, right in [((U, "x"), ("x", U)), (("x", "y"), ("y", U)), (("x", U), (U, "x")), ((U, U), ("y", "x"))]:
    product = tf.matmul(make((8, 8), *left), make((8, 8), *right))
    show(f"{left} @ {right}", product)
    print(whole(product)[0])
for left, right in [(("x", U), (U, "y")), (("x", U), ("y", U)), (("x", "y"), ("y", "x")), ((U, "y"), (U, U))]:
    show(f"{left} + {right}", make((8, 8), *left) + make((8, 8), *right))
x = make((8, 8), "x", "y")
show("+ vector", x + make((8,), "y"))
show("+ scalar", x + 1.0)
show("> scalar", x > 2.0)
for f in (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min):
    print(f.__name__, f(x).numpy(), whole(f(x, 0)), dtensor.fetch_layout(f(x, 0)).sharding_specs)
    show(f.__name__, f(x, axis=1, keepdims=True))
show("softmax", tf.nn.softmax(x))
print(whole(tf.nn.softmax(x))[0])
show("relu", tf.nn.relu(x - 2.0))
show("transpose", tf.transpose(x))
show("cast", tf.cast(x, tf.int32))
show("zeros_like", tf.zeros_like(x))
show("where", tf.where(x > 2.0, x, 0.0))
show("argmax", tf.argmax(x, axis=1))
print(whole(tf.argmax(x, axis=1)))
for shape in [(64,), (4, 2, 8), (8, 4, 2), (2, 4, 8), (4, 16), (8, 1, 8)]:
    show(f"reshape {shape}", tf.reshape(x, shape))
show("expand_dims", tf.expand_dims(x, 1))
show("squeeze", tf.squeeze(tf.expand_dims(x, 1), 1))
show("concat 0", tf.concat([x, x], 0))
show("concat 1", tf.concat([x, x], 1))
show("stack", tf.stack([make((8,), "x"), make((8,), "x")]))
print([dtensor.fetch_layout(t).sharding_specs for t in tf.unstack(make((4, 2), U, "y"))])
print([dtensor.fetch_layout(t).sharding_specs for t in tf.split(make((8, 8), "x", U), 2, axis=1)])
show("gather", tf.gather(x, [1, 3]))
print(whole(tf.gather(x, [1, 3])))
show("slice", x[:4])
show("slice 1", x[:, 2:4])
show("tile", tf.tile(make((8, 8), U, "y"), [2, 1]))
show("pad", tf.pad(make((8, 8), "x", U), [[0, 0], [1, 1]]))
show("cumsum", tf.cumsum(x))
show("one_hot", tf.one_hot(tf.cast(x, tf.int32), 4))
show("einsum", tf.einsum("ij,jk->ik", a, b))
show("broadcast_to", tf.broadcast_to(x, (2, 8, 8)))
show("top_k", tf.math.top_k(x, 2).values)
show("norm", tf.norm(x))
print(tf.norm(x).numpy())
show("losses", tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.range(8) % 8, logits=x))
show("logsumexp", tf.reduce_logsumexp(x, 1))
mean, variance = tf.nn.moments(x, [0])
show("moments", mean)
print(whole(variance))
values = dtensor.call_with_layout(tf.ones, dtensor.Layout(["x", "y"], mesh), shape=(4, 4))
print(values)
