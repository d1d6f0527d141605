# What is refused: layouts that do not fit, tensors without a layout, parts that do not belong together.
import tensorflow as tf
from tensorflow.experimental import dtensor

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 8
)
DEVICES = [f"CPU:{i}" for i in range(8)]
U = dtensor.UNSHARDED
mesh = dtensor.create_mesh([("x", 4), ("y", 2)], devices=DEVICES)
L = dtensor.Layout


def attempt(label, f):
    try:
        print(label, "->", f())
    except Exception as e:
        text = str(e).split("\n<unknown>")[0].split("\ntensorflow/dtensor")[0].split(" Input tensor is")[0]
        print(label, type(e).__name__, text)


def make(shape, *specs):
    return dtensor.copy_to_mesh(tf.ones(shape), L(list(specs), mesh))


attempt("devices", lambda: dtensor.create_mesh([("x", 3)], devices=DEVICES))
attempt("no such dimension", lambda: mesh.dim_size("z"))
attempt("twice", lambda: L(["x", "x"], mesh))
attempt("unknown", lambda: L(["z", U], mesh))
attempt("no mesh", lambda: L(["x"], "mesh"))
attempt("default", lambda: dtensor.default_mesh("mesh").__enter__())
attempt("plain layout", lambda: dtensor.fetch_layout(tf.constant(1.0)))
attempt("plain unpack", lambda: dtensor.unpack(tf.constant(1.0)))
attempt("few parts", lambda: dtensor.pack([tf.constant([1])], L(["x"], mesh)))
attempt("shapes", lambda: dtensor.pack([tf.constant([1])] * 7 + [tf.constant([1, 2])], L(["x"], mesh)))
attempt("types", lambda: dtensor.pack([tf.constant([1])] * 7 + [tf.constant([1.0])], L(["x"], mesh)))
attempt("rank", lambda: dtensor.pack([tf.constant([1])] * 8, L(["x", U], mesh)))
attempt("twice packed", lambda: dtensor.pack([make((2,), U)] * 8, L([U], mesh)))
attempt("not divisible", lambda: make((6, 2), "x", U))
attempt("ranks", lambda: make((4,), "x", U))
attempt("numpy", lambda: make((4, 2), "x", U).numpy())
attempt("bool", lambda: bool(make((4, 2), "x", U)))
attempt("check", lambda: dtensor.check_layout(make((4, 2), "x", U), L([U, U], mesh)))
attempt("checked", lambda: dtensor.check_layout(make((4, 2), "x", U), L(["x", U], mesh)))
a = make((4, 2), "x", U)
attempt("plain operand", lambda: a + tf.ones((4, 2)))
attempt("array operand", lambda: a + [[1.0, 2.0]])
attempt("scalar", lambda: dtensor.fetch_layout(a + tf.constant(2.0)).sharding_specs)
attempt("small", lambda: dtensor.fetch_layout(tf.gather(a, tf.range(16) % 4)).sharding_specs)
attempt("less small", lambda: make((17,), U) + tf.ones((17,)))
attempt("contraction", lambda: make((8, 8), U, "x") @ make((8, 8), "y", U))
attempt("split", lambda: tf.split(make((8, 8), "x", U), 2))
attempt("split too small", lambda: tf.split(make((4, 4), "x", U), 2))
attempt("tile", lambda: tf.tile(make((4, 4), "x", U), [2, 1]))
attempt("stateful random", lambda: tf.nn.dropout(make((4, 4), "x", U), 0.5))
attempt("unknown op", lambda: tf.reverse(make((4, 4), "x", U), [0]))
attempt("unknown op, replicated", lambda: tf.reverse(make((2, 2), U, U), [0]).numpy())
attempt("distributed", lambda: dtensor.create_distributed_mesh([("x", 8)]))
attempt("shutdown", dtensor.shutdown_accelerator_system)
attempt("device type", lambda: dtensor.local_devices("XPU"))


@tf.function
def in_a_function(t):
    for f in (lambda: dtensor.pack([t] * 8, L([U], mesh)), lambda: dtensor.unpack(t), lambda: dtensor.fetch_layout(t)):
        attempt("in a function", f)


in_a_function(tf.constant([1.0]))
print(dtensor.client_id(), dtensor.num_clients(), dtensor.job_name(), dtensor.full_job_name(), dtensor.jobs())
print(dtensor.num_local_devices("CPU"), dtensor.num_global_devices("CPU"), dtensor.local_devices("CPU")[1])
print(dtensor.heartbeat_enabled(), dtensor.preferred_device_type(), dtensor.device_name())
dtensor.barrier(mesh)
