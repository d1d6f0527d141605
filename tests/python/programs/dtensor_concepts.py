# Meshes, layouts, and tensors that are laid out over eight virtual CPUs.
import tensorflow as tf
from tensorflow.experimental import dtensor


def configure_virtual_cpus(ncpu):
    phy_devices = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(phy_devices[0], [tf.config.LogicalDeviceConfiguration()] * ncpu)


configure_virtual_cpus(8)
DEVICES = [f"CPU:{i}" for i in range(8)]
print([d.name for d in tf.config.list_logical_devices("CPU")])

# A mesh is a grid of devices with names for its dimensions.
mesh_1d = dtensor.create_mesh([("x", 6)], devices=DEVICES[:6])
print(mesh_1d)
mesh_2d = dtensor.create_mesh([("x", 3), ("y", 2)], devices=DEVICES[:6])
print(mesh_2d.dim_names, mesh_2d.shape(), mesh_2d.size, mesh_2d.dim_size("x"), mesh_2d["y"])
print(mesh_2d.unravel_index())
print(mesh_2d == dtensor.create_mesh({"x": 3, "y": 2}, devices=DEVICES[:6]), mesh_1d == mesh_2d)

# A layout says which dimension of a tensor is cut along which dimension of the mesh.
layout = dtensor.Layout([dtensor.UNSHARDED, dtensor.UNSHARDED], mesh_1d)
print(layout.sharding_specs, layout.rank, layout.is_fully_replicated())
layout = dtensor.Layout([dtensor.UNSHARDED, "x"], mesh_1d)
print(layout, layout.num_shards(0), layout.num_shards(1))
layout = dtensor.Layout(["y", "x"], mesh_2d)
print(layout.sharding_specs, layout.local_shape_from_global_shape([4, 9]), layout.offset_to_shard())
print(dtensor.Layout.replicated(mesh_2d, rank=3).sharding_specs)
print(dtensor.Layout.batch_sharded(mesh_2d, "x", rank=3).sharding_specs)
print(dtensor.Layout.inner_sharded(mesh_2d, "y", rank=3).sharding_specs)
print(layout.delete([0]).sharding_specs, dtensor.Layout.from_string(layout.to_string()) == layout)


def dtensor_from_array(arr, layout, shape=None, dtype=None):
    """Every device gets the array, and the layout says what of it is kept."""
    if shape is not None or dtype is not None:
        arr = tf.constant(arr, shape=shape, dtype=dtype)
    a = tf.zeros_like(arr)
    a = dtensor.copy_to_mesh(a, layout=dtensor.Layout.replicated(layout.mesh, rank=layout.rank))
    arr = dtensor.copy_to_mesh(arr, layout=dtensor.Layout.replicated(layout.mesh, rank=layout.rank))
    return dtensor.relayout(arr + a, layout=layout)


mesh = dtensor.create_mesh([("x", 6)], devices=DEVICES[:6])
replicated = dtensor_from_array([0, 1], dtensor.Layout([dtensor.UNSHARDED], mesh))
print(replicated)
print(dtensor.fetch_layout(replicated))
print(replicated.shape, replicated.dtype, replicated.numpy(), dtensor.is_dtensor(replicated))

# Its parts, one for each device.
for component in dtensor.unpack(replicated):
    print("Device:", component.device, ",", component)

packed = dtensor.pack(
    [
        tf.constant([0, 1]),
        tf.constant([0, 1]),
        tf.constant([0, 1]),
        tf.constant([0, 1]),
        tf.constant([0, 1]),
        tf.constant([0, 1]),
    ],
    layout=dtensor.Layout([dtensor.UNSHARDED], mesh),
)
print(packed)

# Cut along both dimensions, or along one and the same in the other.
mesh = dtensor.create_mesh([("x", 3), ("y", 2)], devices=DEVICES[:6])
fully_sharded = dtensor_from_array(tf.reshape(tf.range(6), (3, 2)), dtensor.Layout(["x", "y"], mesh))
for raw_component in dtensor.unpack(fully_sharded):
    print("Device:", raw_component.device, ",", raw_component)
hybrid = dtensor_from_array(tf.reshape(tf.range(6), (3, 2)), dtensor.Layout(["x", dtensor.UNSHARDED], mesh))
print(hybrid)
print(repr(hybrid))
print(f"{replicated}")

# Only what is the same everywhere is an array.
print(fully_sharded.shape, len(fully_sharded))
try:
    fully_sharded.numpy()
except tf.errors.UnimplementedError as e:
    print(str(e).split(" Input")[0])
print([c.numpy().tolist() for c in dtensor.unpack(fully_sharded)])
