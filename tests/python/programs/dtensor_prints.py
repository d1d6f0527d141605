"""What layouts, meshes and DTensors print, eagerly and in functions, and the texts of their errors."""

import numpy as np
import tensorflow as tf
from calls import tell
from tensorflow.experimental import dtensor

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 4)
L, M, U = dtensor.Layout, dtensor.Mesh, dtensor.UNSHARDED
mesh = dtensor.create_mesh([("x", 2), ("y", 2)], devices=[f"CPU:{i}" for i in range(4)])
line = dtensor.create_mesh([("batch", 4)], devices=[f"CPU:{i}" for i in range(4)])
whole = L([U, U], mesh)
by_x = L(["x", U], mesh)
by_xy = L(["x", "y"], mesh)
vector = L(["x"], mesh)
scalar = L([], mesh)
a = dtensor.copy_to_mesh(tf.reshape(tf.range(8), [2, 4]), whole)
b = dtensor.relayout(a, by_xy)
c = dtensor.call_with_layout(tf.ones, by_x, [2, 4])
d = dtensor.pack([tf.constant([i]) for i in (0, 0, 1, 1)], vector)
s = dtensor.copy_to_mesh(tf.constant(3), scalar)
t = dtensor.copy_to_mesh(tf.constant(["a", "b"]), L([U], mesh))
v = dtensor.DVariable(dtensor.copy_to_mesh(tf.constant([1.0, 2.0]), vector))
seen = []


@tf.function
def inside(x):
    seen.append((str(x), repr(x), type(x).__name__))
    return x + 1


tell(
    """
    mesh
    str(mesh)
    line
    whole
    by_xy
    str(by_x)
    scalar
    str(scalar)
    vector.to_string()
    mesh.to_string()
    L.from_string(by_xy.to_string()) == by_xy
    M.from_string(mesh.to_string()) == mesh
    L.replicated(mesh, 3)
    L.batch_sharded(line, "batch", 2)
    L.inner_sharded(mesh, "y", 2)
    L([U], mesh).rank
    by_xy.sharding_specs
    by_xy.num_shards(0)
    by_xy.offset_to_shard()
    by_xy.is_fully_replicated()
    whole.is_fully_replicated()
    by_xy.shape
    by_xy.type
    by_xy.unravel({"x": 1}) if hasattr(by_xy, "unravel") else None
    by_xy.delete([0])
    by_xy.mesh == mesh
    by_xy == by_x
    by_xy != by_x
    hash(by_xy) == hash(L(["x", "y"], mesh))
    mesh.dim_names
    mesh.dim_size("x")
    mesh.dim_size("z")
    mesh.shape()
    mesh.size
    mesh.num_local_devices()
    mesh.local_devices()
    mesh.local_device_ids()
    mesh.global_device_ids()
    mesh.local_device_locations()
    mesh.unravel_index()
    mesh.coords(2)
    mesh.device_type()
    mesh.is_remote()
    mesh.contains_dim("x")
    mesh.min_global_device_id()
    mesh.name
    mesh["x"]
    mesh.dims if hasattr(mesh, "dims") else None
    mesh == line
    mesh.strides if hasattr(mesh, "strides") else None
    a
    print(a)
    b
    print(b)
    str(b)
    c
    d
    s
    print(s)
    t
    print(t)
    v
    print(v)
    v.layout
    a.shape
    a.dtype
    b.device
    b.layout
    a.numpy()
    b.numpy()
    c.numpy()
    int(s)
    float(s)
    bool(s)
    len(a)
    list(d)
    np.array(a)
    b.numpy().tolist()
    dtensor.fetch_layout(b)
    dtensor.fetch_layout(tf.constant(1))
    dtensor.is_dtensor(b)
    dtensor.is_dtensor(tf.constant(1))
    dtensor.unpack(b)
    dtensor.unpack(d)
    dtensor.unpack(tf.constant(1))
    b + 1
    b + a
    tf.reduce_sum(b)
    tf.matmul(c, c, transpose_b=True)
    a[0]
    a[0, 1]
    tf.concat([a, a], 0)
    inside(b)
    inside(s)
    seen
    tf.print(s)
    f"{s}"
    f"{b}"
    repr([a, s])
    L(["z", U], mesh)
    L(["x", "x"], mesh)
    L(["x"], "mesh")
    M(["x"], np.arange(2), [0, 1], [])
    dtensor.create_mesh([("x", 3)], devices=["CPU:0", "CPU:1"])
    dtensor.create_mesh([("x", 2), ("x", 2)], devices=[f"CPU:{i}" for i in range(4)])
    dtensor.create_mesh([("x", 9)])
    dtensor.create_mesh({"x": 2, "y": 2}, devices=[f"CPU:{i}" for i in range(4)]).shape()
    dtensor.create_mesh([("a b", 2)], devices=["CPU:0", "CPU:1"])
    dtensor.create_mesh([("x", 2)], device_type="TPU")
    dtensor.copy_to_mesh(tf.ones([3]), whole)
    dtensor.copy_to_mesh(a, whole)
    dtensor.copy_to_mesh(tf.ones([2, 4]), mesh)
    dtensor.pack([tf.constant(1)], scalar)
    dtensor.pack([tf.constant([1, 2]), tf.constant([1])] * 2, L([U], mesh))
    dtensor.relayout(tf.ones([2, 4]), by_xy)
    dtensor.relayout_like(a, b)
    dtensor.DVariable(tf.constant([1.0]))
    v.assign(tf.constant([1.0, 2.0]))
    v.assign_add(dtensor.copy_to_mesh(tf.constant([1.0, 1.0]), vector))
    b + tf.constant([1, 2, 3, 4])
    tf.constant([1]) + s
    b + np.int32(5)
    tf.reshape(b, [8])
    tf.transpose(b)
    dtensor.device_name()
    dtensor.default_mesh(mesh)
    dtensor.local_devices("CPU")
    dtensor.num_local_devices("CPU")
    dtensor.num_global_devices("CPU")
    dtensor.num_clients()
    dtensor.client_id()
    dtensor.full_job_name()
    dtensor.job_name()
    dtensor.jobs()
    dtensor.preferred_device_type()
    dtensor.heartbeat_enabled()
    """,
    globals(),
)
