"""Iterators for several devices, what an iterator tells of itself, copies, debug marks, constants in files."""
import os
import tempfile

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
folder = tempfile.mkdtemp()
SCALAR = {"output_types": [tf.int64], "output_shapes": [[]]}
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def show(label, call):
    try:
        print(label, tf.nest.map_structure(lambda t: t.numpy().tolist() if t.dtype != tf.string else t.numpy(), call()))
    except (tf.errors.OpError, ValueError, TypeError) as e:
        print(label, type(e).__name__, str(getattr(e, "message", e)).split("\n")[0].split("}} ")[-1].split(" [Op:")[0].replace(folder, "F"))


def count(n):
    return tf.data.Dataset.range(n)._variant_tensor


def deal(label, iterator, shards):
    start = raw.MultiDeviceIteratorInit(dataset=count(4), multi_device_iterator=iterator, max_buffer_size=tf.constant(1, tf.int64))
    get = lambda shard, run=start: raw.MultiDeviceIteratorGetNextFromShard(multi_device_iterator=iterator, shard_num=shard, incarnation_id=run, **SCALAR)
    for i in range(4):
        show(label, lambda: get(i % shards))
    show(label, lambda: get(0))


anonymous, deleter = raw.AnonymousMultiDeviceIterator(devices=[CPU, CPU], **SCALAR)
print(anonymous.shape, anonymous.dtype.name, deleter.shape, deleter.dtype.name)
deal("AnonymousMultiDeviceIterator", anonymous, 2)
print(raw.DeleteMultiDeviceIterator(multi_device_iterator=anonymous, iterators=[], deleter=deleter))
shared = raw.MultiDeviceIterator(devices=[CPU], shared_name="several", container="", **SCALAR)
deal("MultiDeviceIterator", shared, 1)

for op in (raw.Copy, raw.CopyHost):
    for value in (tf.constant([[1.0, 2.0]]), tf.constant(["a", "bc"]), tf.constant(7, tf.int8), tf.constant([True, False])):
        show(op.__name__, lambda: op(input=value, tensor_name="t"))
for op in (raw.DebugIdentityV2, raw.DebugIdentityV3):
    for value in (tf.constant([[1.0, 2.0]]), tf.constant(["a"])):
        show(op.__name__, lambda: op(input=value))
show("DebugIdentityV3", lambda: raw.DebugIdentityV3(input=[1, 2], tensor_name="a:0"))

with open(os.path.join(folder, "numbers"), "wb") as f:
    f.write(np.arange(6, dtype=np.float32).tobytes())
const = lambda dtype, shape, name: raw.ImmutableConst(dtype=dtype, shape=shape, memory_region_name=os.path.join(folder, name))
show("ImmutableConst", lambda: const(tf.float32, [2, 3], "numbers"))
show("ImmutableConst", lambda: const(tf.float32, [2], "numbers"))
show("ImmutableConst", lambda: const(tf.int64, [3], "numbers"))

iterator = iter(tf.data.Dataset.range(3))._iterator_resource
show("ExperimentalIteratorGetDevice", lambda: raw.ExperimentalIteratorGetDevice(resource=iterator))
