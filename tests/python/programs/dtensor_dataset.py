# DTensorDataset: batches that come laid out.
import tensorflow as tf
from tensorflow.experimental import dtensor

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 8
)
DEVICES = [f"CPU:{i}" for i in range(8)]
U = dtensor.UNSHARDED
mesh = dtensor.create_mesh([("batch", 4), ("y", 2)], devices=DEVICES)

dataset = tf.data.Dataset.range(40)
d_dataset = dtensor.DTensorDataset(
    dataset,
    mesh=mesh,
    layouts=dtensor.Layout.batch_sharded(mesh, "batch", rank=1),
    global_batch_size=16,
    batch_dim="batch",
)
print(d_dataset.element_spec)
iterator = iter(d_dataset)
for _ in range(2):
    batch = next(iterator)
    print(dtensor.fetch_layout(batch).sharding_specs, batch.shape)
    print([c.numpy().tolist() for c in dtensor.unpack(batch)])

features = tf.reshape(tf.range(64.0), (16, 4))
labels = tf.range(16) % 3
d_dataset = dtensor.DTensorDataset(
    tf.data.Dataset.from_tensor_slices({"x": features, "label": labels}).map(
        lambda d: {"x": d["x"] * 2, "label": d["label"]}
    ),
    mesh=mesh,
    layouts={"x": dtensor.Layout(["batch", "y"], mesh), "label": dtensor.Layout(["batch"], mesh)},
    global_batch_size=8,
    batch_dim="batch",
    prefetch=1,
)
print({k: d_dataset.element_spec[k] for k in sorted(d_dataset.element_spec)})


@tf.function
def total(batch):
    return tf.reduce_sum(batch["x"]), tf.reduce_max(batch["label"])


iterator = iter(d_dataset)
for _ in range(2):
    batch = next(iterator)
    print(batch["x"])
    print([r.numpy() for r in total(batch)])

# The same on every device.
d_dataset = dtensor.DTensorDataset(
    tf.data.Dataset.range(8).batch(4, drop_remainder=True),
    mesh=mesh,
    layouts=dtensor.Layout.replicated(mesh, 1),
    global_batch_size=4,
    dataset_already_batched=True,
)
print(next(iter(d_dataset)))
for arguments in (
    {"layouts": dtensor.Layout.replicated(mesh, 1), "global_batch_size": 4, "batch_dim": "batch"},
    {"layouts": dtensor.Layout.replicated(mesh, 2), "global_batch_size": 4},
    {"layouts": dtensor.Layout.replicated(mesh, 1), "global_batch_size": 4, "dataset_already_batched": True},
):
    try:
        dtensor.DTensorDataset(tf.data.Dataset.range(8), mesh=mesh, **arguments)
    except (ValueError, IndexError) as e:
        print(type(e).__name__, str(e).split(" Layout.from")[0])
